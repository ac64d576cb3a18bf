// Package keys is about who signs and who is believed: JSON Web Keys, signing and checking of tokens, the API keys of an
// installation with the role tokens they stand for, and their rotation.
//
// Only app, auth, cli, fnhost/child and storage import it; it imports nothing of ours and opens no connection.
package keys
