package views

// Name asks for the name that a browser posts under.
type Name struct {
	Shell Shell
	To    string
	Name  string
	Error string
}

// Problem is a page that could not be shown.
type Problem struct {
	Shell   Shell
	Icon    string
	Title   string
	Text    string
	Code    string
	Request string
	Link    string
	Label   string
}

func invalid(is bool) templAttrs {
	if is {
		return templAttrs{"aria-invalid": "true"}
	}
	return nil
}
