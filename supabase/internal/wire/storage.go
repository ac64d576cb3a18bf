package wire

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
)

// StorageDetails is what an Error of the storage dialect carries in Details when it differs from the usual: the error
// name of the body (else the code) and the HTTP status of the reply (else 400, or 500 for a 500). The real code travels
// as the string statusCode in the body, as storage-api has it.
type StorageDetails struct {
	Error string
	Reply int
}

// StorageBody is the JSON body of every error of storage-api, in its order.
type StorageBody struct {
	StatusCode string `json:"statusCode"`
	Error      string `json:"error"`
	Message    string `json:"message"`
	Code       string `json:"code"`
}

// StorageError gives the body and the HTTP status for err in the storage dialect. An error that is no Error shows
// nothing of itself.
func StorageError(err error) (StorageBody, int) {
	e, ok := AsError(err)
	if !ok {
		return StorageBody{StatusCode: "500", Error: "Internal", Message: "Internal Server Error", Code: "InternalError"}, 500
	}
	body := StorageBody{StatusCode: strconv.Itoa(e.Status), Error: e.Code, Message: e.Message, Code: e.Code}
	reply := http.StatusBadRequest
	if e.Status == http.StatusInternalServerError {
		reply = e.Status
	}
	if d, ok := e.Details.(StorageDetails); ok {
		if d.Error != "" {
			body.Error = d.Error
		}
		if d.Reply != 0 {
			reply = d.Reply
		}
	}
	return body, reply
}

// WriteStorageError sends err in the storage dialect.
func WriteStorageError(w http.ResponseWriter, err error) {
	body, reply := StorageError(err)
	if e, ok := AsError(err); ok {
		for name, values := range e.Header {
			w.Header()[name] = values
		}
	}
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)                 // as JSON.stringify writes it
	if err := enc.Encode(body); err != nil { // strings only
		panic(err)
	}
	data := bytes.TrimSuffix(text.Bytes(), []byte("\n"))
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(data)))
	w.WriteHeader(reply)
	w.Write(data)
}
