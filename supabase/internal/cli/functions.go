package cli

import "context"

var functionsCommand = Command{
	Name:  "functions",
	Short: "Create, call, deploy and inspect edge functions",
	Long: `
  daawo functions new hello && daawo start --dev        then edit functions/hello/func.go and call the function again
  daawo functions deploy -m 'faster search' && daawo functions rollback`,
	Verbs: []Command{
		{Name: "list", Args: "[FLAGS]", Short: "List the functions of the running server, or of this program",
			Run: listFunctions},
		{Name: "new", Args: "NAME [FLAGS]",
			Short: "Write a function: in Go with a test, or in TypeScript if the project has no Go module",
			Run:   func(_ context.Context, inv *Invocation) error { return newFunction(inv) }},
		{Name: "invoke", Args: "NAME [FLAGS]", Short: "Call a function of the running server", Run: invokeFunction},
		{Name: "logs", Args: "[NAME] [FLAGS]", Short: "Print log lines of functions of the running server",
			Run: functionLogs},
		{Name: "schedule", Args: "run NAME [FLAGS]",
			Short: "Run the scheduled work of a function now and wait for its result", Run: functionSchedule},
		{Name: "deploy", Args: "[FLAGS]",
			Short: "Compile the functions of the working folder, with their modules, and switch the server to them", Run: deployFunctions},
		{Name: "versions", Args: "[FLAGS]", Short: "List the deployed versions; the last five are kept",
			Run: functionVersions},
		{Name: "rollback", Args: "[VERSION] [FLAGS]", Short: "Switch to the version before, an older one, or built-in",
			Run: rollbackFunctions},
		{Name: "token", Args: "create|revoke [FLAGS]",
			Short: "Let another machine deploy: deploy --url URL, with DEPLOY_TOKEN", Run: functionToken},
		{Name: "testdb", Run: functionsTestDB}, // for edgetest.DB
		{Name: "serve", Args: "[FLAGS]",
			Short: "Print the functions' log beside a server; serve them alone without one", Run: serveFunctions},
	},
}
