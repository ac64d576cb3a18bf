package cli

import "context"

var functionsCommand = Command{
	Name:  "functions",
	Args:  "list|new|invoke|logs|serve [NAME] [FLAGS]",
	Short: "Create, call and inspect edge functions",
	Long: `
list                 list the functions of this program with their limits and schedules
new NAME             create functions/NAME/ with a handler and a test, and register the function
invoke NAME          call a function of the running server (--body JSON, --method METHOD, --user-token TOKEN)
logs [NAME]          print the log lines of functions of the running server (--follow)
serve                the same as 'daawo serve functions'

  daawo functions new hello && daawo start --dev        then edit functions/hello/func.go and call the function again`,
	Run: runFunctions,
}

func runFunctions(ctx context.Context, inv *Invocation) error {
	switch inv.Verb() {
	case "list":
		return listFunctions(inv)
	case "new":
		return newFunction(inv)
	case "invoke":
		return invokeFunction(ctx, inv)
	case "logs":
		return functionLogs(ctx, inv)
	case "testdb":
		return functionsTestDB(ctx, inv)
	case "serve":
		return services()["functions"](ctx, inv)
	}
	if err := inv.parse(0, 1); err != nil {
		return err
	}
	return inv.usage()
}
