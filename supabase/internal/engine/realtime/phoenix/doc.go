// Package phoenix encodes and decodes the messages of Phoenix channels in the serializers 1.0.0
// (JSON objects) and 2.0.0 (JSON arrays, and binary frames for broadcasts).
package phoenix
