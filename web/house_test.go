package web_test

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// pkg is a package as the go command lists it.
type pkg struct {
	ImportPath string
	Imports    []string
	Deps       []string
	Doc        string
}

func packages(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports,Deps,Doc", "postroom/...")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var all []pkg
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// floors order the rooms: a package imports only from floors below its own.
var floors = []string{
	"postroom/web/cli", "postroom/web", "postroom/handlers", "postroom/views", "postroom/workforce", "postroom/domain/store",
	"postroom/domain/seat", "postroom/domain/mailbox", "postroom/domain/board", "postroom/domain/agent", "postroom/domain/model",
	"postroom/domain/session", "postroom/domain/live", "postroom/domain/account", "postroom/domain/schema", "postroom/domain/fault",
}

// floor is where a package stands; -1 for those that stand aside.
func floor(path string) int {
	return slices.IndexFunc(floors, func(f string) bool { return path == f || f != "postroom/web" && strings.HasPrefix(path, f+"/") })
}

func TestImportsPointDown(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		own := floor(p.ImportPath)
		if own < 0 || strings.HasSuffix(p.ImportPath, "test") {
			continue
		}
		for _, imported := range p.Imports {
			if at := floor(imported); at >= 0 && at < own {
				t.Errorf("%s imports %s, which stands above it", p.ImportPath, imported)
			}
			if strings.HasPrefix(imported, "postroom/") && strings.HasSuffix(imported, "test") {
				t.Errorf("%s imports the test support %s", p.ImportPath, imported)
			}
		}
	}
}

func TestTheDomainKnowsNoHTTPAndOnlyTheStoreKnowsGorm(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		if !strings.HasPrefix(p.ImportPath, "postroom/domain/") || strings.HasSuffix(p.ImportPath, "test") {
			continue
		}
		for _, imported := range p.Imports {
			asksAModel := strings.HasPrefix(p.ImportPath, "postroom/domain/model/") // over HTTP, as a client
			switch {
			case imported == "net/http" && !asksAModel, strings.Contains(imported, "labstack/echo"), strings.Contains(imported, "a-h/templ"):
				t.Errorf("%s imports %s", p.ImportPath, imported)
			case strings.HasPrefix(imported, "gorm.io/") && p.ImportPath != "postroom/domain/store":
				t.Errorf("%s imports %s", p.ImportPath, imported)
			}
		}
	}
}

func TestTheAgentCanBeImportedAlone(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		if p.ImportPath != "postroom/domain/agent" && p.ImportPath != "postroom/domain/model" {
			continue
		}
		for _, dep := range p.Deps {
			if strings.HasPrefix(dep, "postroom/") && !slices.Contains([]string{"postroom/domain/model", "postroom/domain/schema"}, dep) ||
				strings.HasPrefix(dep, "gorm.io/") || dep == "net/http" {
				t.Errorf("%s brings %s with it", p.ImportPath, dep)
			}
		}
	}
}

func TestEveryPackageSaysWhatItIs(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		if p.Doc == "" {
			t.Errorf("%s has no package comment", p.ImportPath)
		}
	}
}

var defined = regexp.MustCompile(`fault\.Define\(fault\.\w+, "([a-z-]+)"`)

// One code means one thing, but for those that several layers say alike.
func TestACodeIsDefinedOnce(t *testing.T) {
	t.Parallel()
	alike := []string{"internal", "shutting-down", "body-too-large"}
	seen := map[string]string{}
	err := filepath.WalkDir("..", func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".git") {
			return filepath.SkipDir
		}
		if filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range defined.FindAllStringSubmatch(string(raw), -1) {
			if at, twice := seen[m[1]]; twice && !slices.Contains(alike, m[1]) {
				t.Errorf("%s is defined in %s and in %s", m[1], at, path)
			}
			seen[m[1]] = path
		}
		return nil
	})
	if err != nil || len(seen) < 30 {
		t.Errorf("%d codes found, %v", len(seen), err)
	}
}
