package objects

import (
	"net/http"
	"strconv"

	"daawo/supabase/internal/base/apierror"
)

// ErrorDetails is the Details of an apierror.Error that differs from storage-api's defaults.
type ErrorDetails struct {
	Error string // error name in the body; "" means the code
	Reply int    // HTTP status of the reply; 0 means 500 for an Error with status 500, else 400
}

// ErrorBody is the JSON body of storage-api's errors, with the keys in its order.
type ErrorBody struct {
	StatusCode string `json:"statusCode"` // the Error's Status
	Error      string `json:"error"`
	Message    string `json:"message"`
	Code       string `json:"code"`
}

// ErrorReply returns the body and the HTTP status of storage-api's reply to err. For an error that
// is not an apierror.Error it returns a general message.
func ErrorReply(err error) (ErrorBody, int) {
	e, ok := apierror.AsError(err)
	if !ok {
		return ErrorBody{StatusCode: "500", Error: "Internal", Message: "Internal Server Error",
			Code: "InternalError"}, 500
	}
	body := ErrorBody{StatusCode: strconv.Itoa(e.Status), Error: e.Code, Message: e.Message, Code: e.Code}
	reply := http.StatusBadRequest
	if e.Status == http.StatusInternalServerError {
		reply = e.Status
	}
	if d, ok := e.Details.(ErrorDetails); ok {
		if d.Error != "" {
			body.Error = d.Error
		}
		if d.Reply != 0 {
			reply = d.Reply
		}
	}
	return body, reply
}
