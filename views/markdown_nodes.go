package views

import (
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// plainImages turns images into links to them, so that showing a body loads nothing.
type plainImages struct{}

// Transform implements parser.ASTTransformer.
func (plainImages) Transform(doc *ast.Document, _ text.Reader, _ parser.Context) {
	var images []*ast.Image
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the visitor never fails
		if image, ok := n.(*ast.Image); ok && entering {
			images = append(images, image)
		}
		return ast.WalkContinue, nil
	})
	for _, image := range images {
		link := ast.NewLink()
		link.Destination = image.Destination
		for child := image.FirstChild(); child != nil; {
			next := child.NextSibling()
			link.AppendChild(link, child)
			child = next
		}
		if link.ChildCount() == 0 {
			link.AppendChild(link, ast.NewString(image.Destination))
		}
		image.Parent().ReplaceChild(image.Parent(), image, link)
	}
}

// escapedHTML shows raw HTML as the text it is.
type escapedHTML struct{}

// RegisterFuncs implements renderer.NodeRenderer.
func (escapedHTML) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindRawHTML, func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if raw, ok := n.(*ast.RawHTML); ok && entering {
			for i := range raw.Segments.Len() {
				segment := raw.Segments.At(i)
				if _, err := w.Write(util.EscapeHTML(segment.Value(source))); err != nil {
					return ast.WalkStop, err
				}
			}
		}
		return ast.WalkSkipChildren, nil
	})
	r.Register(ast.KindHTMLBlock, func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		block, ok := n.(*ast.HTMLBlock)
		if !ok || !entering {
			return ast.WalkContinue, nil
		}
		if _, err := w.WriteString("<p>"); err != nil {
			return ast.WalkStop, err
		}
		lines := block.Lines()
		for i := range lines.Len() {
			segment := lines.At(i)
			if _, err := w.Write(util.EscapeHTML(segment.Value(source))); err != nil {
				return ast.WalkStop, err
			}
		}
		if block.HasClosure() {
			if _, err := w.Write(util.EscapeHTML(block.ClosureLine.Value(source))); err != nil {
				return ast.WalkStop, err
			}
		}
		_, err := w.WriteString("</p>\n")
		return ast.WalkContinue, err
	})
}
