// Package keys is about who signs and who is believed: JSON Web Keys, signing and checking of tokens, the API keys of an
// installation with the role tokens they stand for, and their rotation.
//
// The gateway, the engines, fnhost, app and cli import it; it imports nothing of ours and opens no connection.
package keys
