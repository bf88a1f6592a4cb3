// Idioms counts forms that save the writer a line and cost the reader a second look, in Go files
// without tests, and fails where there are more of one than it allows.
//
//	go run ./scripts/idioms [-v] [FOLDER]...
package main

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// form is a way to write something that a reader has to take apart.
type form struct {
	name string
	most int // how many there may be
	has  func(ast.Node) bool
}

// forms are what is counted. A limit only ever falls: what needs more is written out.
func forms() []form {
	return []form{
		{"if x = f(); condition without x", 0, hidesAssignment},
		{"if call(); condition", 0, hidesCall},
		{"three or more values assigned at once", 1, assignsMany},
		{"condition of five or more terms", 14, asksTooMuch},
		{"switch without a value, of seven or more cases", 5, hasManyCases},
	}
}

func main() {
	places := flag.Bool("v", false, "print each place")
	flag.Parse()
	folders := flag.Args()
	if len(folders) == 0 {
		folders = []string{"."}
	}

	counted, err := count(folders)
	if err != nil {
		fmt.Fprintln(os.Stderr, "idioms:", err)
		os.Exit(2)
	}
	failed := false
	for _, form := range forms() {
		found := counted[form.name]
		tooMany := len(found) > form.most
		failed = failed || tooMany
		fmt.Printf("%5d of %3d  %s\n", len(found), form.most, form.name)
		if tooMany || *places {
			for _, at := range found {
				fmt.Println("              ", at)
			}
		}
	}
	if failed {
		os.Exit(1)
	}
}

// count returns where each form is, by its name.
func count(folders []string) (map[string][]token.Position, error) {
	counted := map[string][]token.Position{}
	files := token.NewFileSet()
	for _, folder := range folders {
		err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
			isSource := strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go")
			if err != nil || entry.IsDir() || !isSource {
				return err
			}
			file, err := parser.ParseFile(files, path, nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(node ast.Node) bool {
				for _, form := range forms() {
					if form.has(node) {
						counted[form.name] = append(counted[form.name], files.Position(node.Pos()))
					}
				}
				return true
			})
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return counted, nil
}

// hidesAssignment reports whether an if begins with an assignment to a variable that its condition does not ask.
func hidesAssignment(node ast.Node) bool {
	statement, ok := node.(*ast.IfStmt)
	if !ok {
		return false
	}
	assignment, ok := statement.Init.(*ast.AssignStmt)
	if !ok || assignment.Tok != token.ASSIGN {
		return false
	}
	assigned := map[string]bool{}
	for _, variable := range assignment.Lhs {
		for _, name := range names(variable) {
			assigned[name] = true
		}
	}
	for _, name := range names(statement.Cond) {
		if assigned[name] {
			return false
		}
	}
	return true
}

// hidesCall reports whether an if begins with a call whose result nobody takes.
func hidesCall(node ast.Node) bool {
	statement, ok := node.(*ast.IfStmt)
	if !ok {
		return false
	}
	_, isCall := statement.Init.(*ast.ExprStmt)
	return isCall
}

// assignsMany reports whether a statement assigns three or more values that do not come from one call.
func assignsMany(node ast.Node) bool {
	assignment, ok := node.(*ast.AssignStmt)
	return ok && len(assignment.Lhs) >= 3 && len(assignment.Rhs) == len(assignment.Lhs)
}

// asksTooMuch reports whether an if, an assignment or a return has an expression of five or more terms.
func asksTooMuch(node ast.Node) bool {
	var expressions []ast.Expr
	switch node := node.(type) {
	case *ast.IfStmt:
		expressions = []ast.Expr{node.Cond}
	case *ast.AssignStmt:
		expressions = node.Rhs
	case *ast.ReturnStmt:
		expressions = node.Results
	}
	for _, expression := range expressions {
		if terms(expression) >= 5 {
			return true
		}
	}
	return false
}

// hasManyCases reports whether a switch that asks each case a condition of its own has seven or more.
func hasManyCases(node ast.Node) bool {
	statement, ok := node.(*ast.SwitchStmt)
	return ok && statement.Tag == nil && len(statement.Body.List) >= 7
}

// names returns the identifiers in an expression.
func names(expression ast.Expr) (found []string) {
	ast.Inspect(expression, func(node ast.Node) bool {
		if name, ok := node.(*ast.Ident); ok {
			found = append(found, name.Name)
		}
		return true
	})
	return found
}

// terms returns how many conditions && and || join in an expression.
func terms(expression ast.Expr) int {
	switch expression := expression.(type) {
	case *ast.ParenExpr:
		return terms(expression.X)
	case *ast.BinaryExpr:
		if expression.Op == token.LAND || expression.Op == token.LOR {
			return terms(expression.X) + terms(expression.Y)
		}
	}
	return 1
}
