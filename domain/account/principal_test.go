package account_test

import (
	"errors"
	"strings"
	"testing"

	"postroom/domain/account"
)

func TestWithoutSignInAClaimIsBelievedAndShownAsNotVerified(t *testing.T) {
	t.Parallel()
	for claim, want := range map[string]string{"u_42": "u_42", "": "anonymous", "Mara Quill": "Mara Quill", "長谷川": "長谷川"} {
		p, err := account.Unverified{}.Resolve(t.Context(), account.Claim{UserID: claim})
		if err != nil || p.ID != want || p.Verified || p.Organization != account.DefaultOrganization {
			t.Errorf("%q: %+v %v", claim, p, err)
		}
	}
}

func TestAClaimThatNamesNobodyIsRefused(t *testing.T) {
	t.Parallel()
	for _, claim := range []string{"system", "a\nb", "a\x00", "\u202eevil", strings.Repeat("x", 201), "\xff"} {
		if _, err := (account.Unverified{}).Resolve(t.Context(), account.Claim{UserID: claim}); !errors.Is(err, account.ErrInvalidUser) {
			t.Errorf("%q: %v", claim, err)
		}
	}
}
