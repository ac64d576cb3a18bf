package cli

import "context"

var keysCommand = Command{
	Name:  "keys",
	Args:  "[show|rotate|generate] [FLAGS]",
	Short: "Show, rotate or generate the keys of an installation",
	Long: `
After rotate, running servers use the new keys at once and refuse the old secret keys. Sessions and links signed with the old
keys stay valid until they expire or the next rotation. The old publishable key stays valid for 30 days, because offline pages
still send it. Servers with the same database (DATABASE_URL) rotate together. Use --leaked after a leak of the key file, the
database or the environment: then nothing that the old keys signed stays valid.

  daawo keys rotate --env-file .env     replaces the keys in the .env file of Docker compose, always as with --leaked,
                                        because the upstream images accept any token of an old key. Then run:
                                        docker compose up -d`,
	Verbs: []Command{
		{Name: "show", Args: "[FLAGS]", Short: "Print the API keys of the installation; the default"},
		{Name: "rotate", Args: "[FLAGS]", Short: "Replace all keys"},
		{Name: "generate", Args: "[FLAGS]", Short: "Print new keys as variables for Docker compose; changes nothing"},
	},
	Run: runKeys,
}

func runKeys(ctx context.Context, inv *Invocation) error {
	verb := inv.Verb()
	inv.dataFlag()
	var rotate rotation
	if verb == "rotate" {
		rotate.declareFlags(inv.flags)
	}
	if err := inv.parse(0, 0); err != nil {
		return err
	}
	switch verb {
	case "", "show":
		return showKeys(ctx, inv)
	case "rotate":
		return rotate.run(ctx, inv)
	case "generate":
		return generateKeys(inv)
	}
	return usagef("keys %s: unknown action; the actions are show, rotate and generate", verb)
}
