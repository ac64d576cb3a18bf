package app

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// TestFunctionMeter checks the names, labels and values of the metrics.
func TestFunctionMeter(t *testing.T) {
	registry := prometheus.NewRegistry()
	m := newFunctionMeter(registry)
	m.Called("notes", 500, 2*time.Second)
	m.Refused("notes")
	m.Refused("notes")
	m.Deployed(func() int64 { return 7 })
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			line := family.GetName()
			for _, label := range metric.GetLabel() {
				line += " " + label.GetName() + "=" + label.GetValue()
			}
			got = append(got, fmt.Sprint(line, " ",
				metric.GetCounter().GetValue()+metric.GetGauge().GetValue()+metric.GetHistogram().GetSampleSum()))
		}
	}
	want := []string{
		"daawo_function_duration_seconds function=notes status=500 2",
		"daawo_function_refused_total function=notes 2",
		"daawo_functions_memory_bytes 7",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
