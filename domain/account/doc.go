// Package account says who is asking: organizations, principals and, in later
// versions, users, roles, sign-in and tokens. It knows no HTTP.
package account
