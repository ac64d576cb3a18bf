package cli

import "context"

var functionsCommand = Command{
	Name:  "functions",
	Args:  "list|new|invoke|logs|schedule|deploy|versions|rollback|token|serve [NAME] [FLAGS]",
	Short: "Create, call, deploy and inspect edge functions",
	Long: `
list                 list the functions of the running server, or of this program (--stats adds calls, errors and latencies)
new NAME             create functions/NAME/ with a handler and a test, and register the function
invoke NAME          call a function of the running server (--body JSON, --method METHOD, --user-token TOKEN)
logs [NAME]          print log lines of functions of the running server (--since 1h, --level error, --follow)
schedule run NAME    run the scheduled work of a function now and wait for its result
deploy               compile the functions of the working folder, and switch the server to them without a restart
versions             list the deployed versions; the last five are kept
rollback [VERSION]   switch to another version: the one before, an older one, or built-in
token create|revoke  let another machine deploy: deploy --url URL, with the token in DEPLOY_TOKEN
serve                the same as 'daawo serve functions'

  daawo functions new hello && daawo start --dev        then edit functions/hello/func.go and call the function again
  daawo functions deploy -m 'faster search' && daawo functions rollback`,
	Run: runFunctions,
}

func runFunctions(ctx context.Context, inv *Invocation) error {
	run, ok := map[string]func(context.Context, *Invocation) error{
		"list":     listFunctions,
		"new":      func(_ context.Context, inv *Invocation) error { return newFunction(inv) },
		"invoke":   invokeFunction,
		"logs":     functionLogs,
		"schedule": functionSchedule,
		"deploy":   deployFunctions,
		"versions": functionVersions,
		"rollback": rollbackFunctions,
		"token":    functionToken,
		"testdb":   functionsTestDB, // for edgetest.DB
		"serve":    services()["functions"],
	}[inv.Verb()]
	if ok {
		return run(ctx, inv)
	}
	if err := inv.parse(0, 1); err != nil {
		return err
	}
	return inv.usage()
}
