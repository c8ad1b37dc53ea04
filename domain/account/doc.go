// Package account says who is asking: organizations, principals and, in later
// issues, users, roles, sign-in and tokens. It knows no HTTP.
package account
