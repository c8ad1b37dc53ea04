// Package seat is the workers of a workforce: what a WORKER.md may say, hiring
// declared workers into seats, waking a member's seat on a post, and the built-in
// agent kind that answers. It knows no files, no HTTP and no SQL.
package seat
