package apierror

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
)

// StorageDetails is the Details of a storage Error that differs from storage-api's defaults. The
// body has the Error's Status as the string statusCode in any case.
type StorageDetails struct {
	Error string // error name in the body; "" means the code
	Reply int    // HTTP status of the reply; 0 means 500 for an Error with status 500, else 400
}

// StorageBody is the JSON body of storage-api's errors, with the keys in its order.
type StorageBody struct {
	StatusCode string `json:"statusCode"`
	Error      string `json:"error"`
	Message    string `json:"message"`
	Code       string `json:"code"`
}

// StorageError returns the body and the HTTP status for err in storage-api's dialect. For an error
// that is not an Error it returns a general message.
func StorageError(err error) (StorageBody, int) {
	e, ok := AsError(err)
	if !ok {
		return StorageBody{StatusCode: "500", Error: "Internal", Message: "Internal Server Error",
			Code: "InternalError"}, 500
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

// WriteStorageError replies with err in storage-api's dialect.
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
