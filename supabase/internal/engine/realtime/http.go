package realtime

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"daawo/supabase/internal/engine/realtime/messages"
	"daawo/supabase/internal/engine/realtime/phoenix"
)

// maxBody is the size of a request body, in bytes, as upstream.
const maxBody = 8_000_000

func (e *Engine) router() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /socket/websocket", e.accept)
	mux.HandleFunc("GET /healthcheck", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") })
	mux.HandleFunc("GET /api/ping", func(w http.ResponseWriter, _ *http.Request) {
		replyMessage(w, http.StatusOK, "Success")
	})
	mux.Handle("POST /api/broadcast", e.authenticated(e.postBatch))
	mux.Handle("POST /api/broadcast/{topic}/events/{event}", withContentType(e.authenticated(e.postSingle)))
	e.tenantRoutes(mux)
	mux.HandleFunc("/", func(w http.ResponseWriter,
		_ *http.Request) {
		replyMessage(w, http.StatusNotFound, "Not Found")
	})
	return mux
}

func replyMessage(w http.ResponseWriter, status int, message string) {
	replyJSON(w, status, map[string]string{"message": message})
}

// authenticated verifies the token of a request and limits the rate of events.
func (e *Engine) authenticated(next func(http.ResponseWriter, *http.Request, *claims)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		limit, average := int64(e.settings.Load().MaxEventsPerSecond), e.events.average()
		h := w.Header()
		h.Set("X-Rate-Rolling", strconv.FormatInt(average, 10))
		h.Set("X-Rate-Limit", strconv.FormatInt(limit, 10))
		h.Set("X-Rate-Limit-Remaining", strconv.FormatInt(limit-average, 10))
		if average >= limit {
			replyMessage(w, http.StatusTooManyRequests, "Too many requests")
			return
		}
		token := requestToken(r)
		if token == "" {
			replyMessage(w, http.StatusUnauthorized, "Unauthorized")
			return
		}
		identity, err := e.authorize(token)
		if err != nil {
			replyMessage(w, http.StatusUnauthorized, "Unauthorized")
			return
		}
		if e.settings.Load().Suspended {
			replyMessage(w, http.StatusForbidden, "Tenant is suspended")
			return
		}
		next(w, r, identity)
	})
}

// readBody reads a body. It replies to errors and returns false.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, bool) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		replyMessage(w, http.StatusRequestEntityTooLarge, "Request Entity Too Large")
		return nil, false
	case err != nil:
		replyMessage(w, http.StatusBadRequest, "Bad Request")
		return nil, false
	}
	return body, true
}

// batchMessage is one message of POST /api/broadcast.
type batchMessage struct {
	topic, event string
	payload      json.RawMessage
	private      bool
	id           string
}

const blank = "can't be blank"

// parseBatch returns the messages of a body, or the errors in upstream's shape.
func (e *Engine) parseBatch(body []byte) (batch []batchMessage, problems any) {
	raw, given := object(body)["messages"]
	var list []json.RawMessage
	switch err := json.Unmarshal(raw, &list); {
	case !given || string(raw) == "null" || err == nil && len(list) == 0:
		return nil, map[string]any{"messages": []string{blank}}
	case err != nil:
		return nil, map[string]any{"messages": []string{"is invalid"}}
	}
	bad := false
	each := make([]map[string][]string, len(list))
	for i, one := range list {
		m, wrong := e.parseMessage(one)
		batch, each[i] = append(batch, m), wrong
		bad = bad || len(wrong) > 0
	}
	if bad {
		return nil, map[string]any{"messages": each}
	}
	return batch, nil
}

func (e *Engine) parseMessage(raw json.RawMessage) (m batchMessage, wrong map[string][]string) {
	wrong = map[string][]string{}
	members := object(raw)
	m.private, m.id, m.payload = flexible(members["private"]), text(members["id"]), members["payload"]
	for _, field := range []struct {
		name string
		to   *string
	}{{"topic", &m.topic}, {"event", &m.event}} {
		value := members[field.name]
		if len(value) > 0 && value[0] != '"' && string(value) != "null" {
			wrong[field.name] = []string{"is invalid"}
		} else if *field.to = text(value); strings.TrimSpace(*field.to) == "" {
			wrong[field.name] = []string{blank}
		}
	}
	switch {
	case len(m.payload) == 0 || string(m.payload) == "null":
		wrong["payload"] = []string{blank}
	case m.payload[0] != '{':
		wrong["payload"] = []string{"is invalid"}
	case !e.settings.Load().fits(len(m.payload)):
		wrong["payload"] = []string{"Payload size exceeds tenant limit"}
	}
	return m, wrong
}

// postBatch sends several broadcasts. It drops those to private topics that the policies forbid, as
// upstream does.
func (e *Engine) postBatch(w http.ResponseWriter, r *http.Request, identity *claims) {
	body, ok := readBody(w, r)
	if !ok {
		return
	}
	if !json.Valid(body) {
		replyMessage(w, http.StatusBadRequest, "Bad Request")
		return
	}
	batch, problems := e.parseBatch(body)
	if problems != nil {
		replyJSON(w, http.StatusUnprocessableEntity, map[string]any{"errors": problems})
		return
	}
	if limit := int64(e.settings.Load().MaxEventsPerSecond); int64(len(batch))+e.events.average() > limit {
		replyMessage(w, http.StatusTooManyRequests, "Too many messages to broadcast, please reduce the batch size")
		return
	}
	var kB float64
	for _, m := range batch {
		kB += e.relayKB(topicKey{m.topic, m.private}, len(m.payload))
	}
	if !e.mayRelay(networksOf(r), identity, kB) {
		replyMessage(w, http.StatusTooManyRequests, tooManyBytes)
		return
	}
	checked := map[string]bool{} // private topics
	for _, m := range batch {
		if m.private {
			may, known := checked[m.topic]
			if !known {
				var err error
				if may, err = e.mayWrite(r, identity, m.topic); err != nil {
					e.o.Log.Warn("broadcast was not checked", "error", err)
				}
				checked[m.topic] = may
			}
			if !may {
				continue
			}
		}
		var meta []byte
		if m.id != "" {
			meta = metaOf(m.id, false)
		}
		e.events.add(1)
		e.broadcast(topicKey{m.topic, m.private}, &message{
			event: eventBroadcast, id: m.id, payload: phoenix.BroadcastPayload(m.event, m.payload, meta),
		}, nil)
	}
	w.WriteHeader(http.StatusAccepted)
}

// mayWrite checks the policies of a private topic.
func (e *Engine) mayWrite(r *http.Request, identity *claims, topic string) (bool, error) {
	if e.o.Messages == nil {
		return false, messages.ErrUnavailable
	}
	grant, err := e.o.Messages.CanWrite(r.Context(),
		messages.Identity{Role: identity.role, Claims: identity.all, Headers: r.Header}, topic, false)
	return grant.Broadcast, err
}

// withContentType refuses other types than JSON and binary.
func withContentType(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if given := r.Header.Get("Content-Type"); given != "" {
			kind, _, err := mime.ParseMediaType(given)
			if err != nil || kind != "application/json" && kind != binaryType {
				replyJSON(w, http.StatusUnsupportedMediaType, map[string]string{
					"error": "Unsupported Media Type. Use application/json or application/octet-stream",
				})
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// tooManyBytes refuses a broadcast of a client that has sent more than its share.
const tooManyBytes = "Too many bytes to broadcast, please send less"

const binaryType = "application/octet-stream"

// postSingle sends one broadcast whose payload is the body.
func (e *Engine) postSingle(w http.ResponseWriter, r *http.Request, identity *claims) {
	topic, event := r.PathValue("topic"), r.PathValue("event")
	body, ok := readBody(w, r)
	if !ok {
		return
	}
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")) // withContentType has checked it
	user := &phoenix.UserBroadcast{Event: event, JSON: kind != binaryType, Data: body}
	if user.JSON {
		if user.Data, ok = jsonPayload(body); !ok {
			replyMessage(w, http.StatusBadRequest, "Bad Request")
			return
		}
	}
	if !e.settings.Load().fits(len(user.Data)) {
		replyJSON(w, http.StatusUnprocessableEntity,
			map[string]any{"errors": map[string]any{"payload": []string{"Payload size exceeds tenant limit"}}})
		return
	}
	private := r.URL.Query().Get("private") == "true"
	if private {
		may, err := e.mayWrite(r, identity, topic)
		if err != nil || !may {
			e.refuseSingle(w, err)
			return
		}
	}
	key := topicKey{topic, private}
	if !e.mayRelay(networksOf(r), identity, e.relayKB(key, len(user.Data))) {
		replyMessage(w, http.StatusTooManyRequests, tooManyBytes)
		return
	}
	e.events.add(1)
	e.broadcast(key, &message{event: eventBroadcast, user: user}, nil)
	w.WriteHeader(http.StatusAccepted)
}

// jsonPayload returns a JSON body as an object: upstream puts other values into the member _json.
func jsonPayload(body []byte) ([]byte, bool) {
	body = []byte(strings.TrimSpace(string(body)))
	switch {
	case len(body) == 0:
		return emptyObject, true
	case !json.Valid(body):
		return nil, false
	case body[0] == '{':
		return body, true
	}
	return append(append([]byte(`{"_json":`), body...), '}'), true
}

// refuseSingle replies to a broadcast to a private topic that was refused (err is nil) or not
// checked.
func (e *Engine) refuseSingle(w http.ResponseWriter, err error) {
	if err != nil {
		e.o.Log.Warn("broadcast was not checked", "error", err)
	}
	status, message := http.StatusInternalServerError, "Unable to authorize broadcast"
	switch {
	case err == nil:
		status, message = http.StatusForbidden, "Unauthorized"
	case errors.Is(err, messages.ErrPolicy):
		status, message = http.StatusUnprocessableEntity, "RLS policy error"
	case errors.Is(err, messages.ErrCanceled):
		status, message = http.StatusUnprocessableEntity, "Query canceled"
	case errors.Is(err, messages.ErrMissingPartition):
		status, message = http.StatusUnprocessableEntity, "Missing messages partition"
	case errors.Is(err, messages.ErrTooManyChecks):
		status, message = http.StatusTooManyRequests, "Connection pool exhausted"
	case errors.Is(err, messages.ErrUnavailable):
		status, message = http.StatusUnprocessableEntity, "Tenant database unavailable"
	}
	replyMessage(w, status, message)
}
