package web

import (
	"context"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"postroom/domain/account"
	"postroom/domain/mailbox"
	"postroom/domain/store"
	"postroom/web/live"
)

// metrics are the server's counts in Prometheus's form. What the activity screen
// shows is read from where it reads it.
type metrics struct {
	registry *prometheus.Registry
	calls    *prometheus.CounterVec
	took     *prometheus.HistogramVec
}

func newMetrics(d *mailbox.Directory, s *store.Store, hub *live.Hub, clock func() time.Time, log *slog.Logger) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "postroom_http_requests_total", Help: "HTTP requests that were answered.",
		}, []string{"method", "route", "status"}),
		took: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "postroom_http_request_seconds", Help: "How long HTTP requests took, websockets left out.",
			Buckets: []float64{0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30},
		}, []string{"route"}),
	}
	m.registry.MustRegister(
		m.calls, m.took, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		&activityCollector{directory: d, store: s, hub: hub, clock: clock, log: log},
	)
	return m
}

// counted counts a call by its route, never by its path, which callers choose.
func (m *metrics) counted(c echo.Context, took time.Duration) {
	route := c.Path()
	if route == "" {
		route = "none"
	}
	m.calls.WithLabelValues(method(c.Request().Method), route, strconv.Itoa(c.Response().Status)).Inc()
	if route != "/live" {
		m.took.WithLabelValues(route).Observe(took.Seconds())
	}
}

// method keeps methods that somebody makes up out of the labels.
func method(m string) string {
	switch m {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return m
	}
	return "other"
}

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		DisableCompression: true, // what stands around it compresses already
	})
}

// activityCollector reads what goes on when it is asked.
type activityCollector struct {
	directory *mailbox.Directory
	store     *store.Store
	hub       *live.Hub
	clock     func() time.Time
	log       *slog.Logger
}

func described(name, help string) *prometheus.Desc { return prometheus.NewDesc(name, help, nil, nil) }

var (
	descRunning  = described("postroom_requests_running", "Requests that run now.")
	descQueued   = described("postroom_requests_queued", "Requests that wait for their turn.")
	descOldest   = described("postroom_queue_oldest_seconds", "Age of the oldest request that waits; 0 when none does.")
	descPosts    = described("postroom_posts_total", "Lines that people and other flows posted, since the database was made.")
	descAnswers  = described("postroom_answers_total", "Lines that seats posted, since the database was made.")
	descFailures = described("postroom_failures_total", "Requests that failed, since the database was made.")
	descWait     = described("postroom_answer_seconds", "From a post to a seat's line in answer, since the database was made.")
	descSockets  = described("postroom_sockets", "Websockets that are open.")
	descWrites   = described("postroom_store_writes_total", "Writes since the start.")
	descGroups   = described("postroom_store_groups_total", "Transactions that the writes shared, since the start.")
	descApart    = described("postroom_store_groups_apart_total", "Transactions that ran again, each write by itself, since the start.")
	descWritable = described("postroom_store_writable", "1 while the database can be written.")
)

// Describe implements prometheus.Collector.
func (a *activityCollector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		descRunning, descQueued, descOldest, descPosts, descAnswers, descFailures, descWait, descSockets, descWrites, descGroups, descApart, descWritable,
	} {
		to <- d
	}
}

// Collect implements prometheus.Collector. What cannot be read is left out.
func (a *activityCollector) Collect(to chan<- prometheus.Metric) {
	value := func(d *prometheus.Desc, kind prometheus.ValueType, v float64) {
		to <- prometheus.MustNewConstMetric(d, kind, v)
	}
	value(descSockets, prometheus.GaugeValue, float64(a.hub.Sockets()))
	stats := a.store.Stats()
	value(descWrites, prometheus.CounterValue, float64(stats.Writes))
	value(descGroups, prometheus.CounterValue, float64(stats.Groups))
	value(descApart, prometheus.CounterValue, float64(stats.Apart))
	writable := 1.0
	if a.store.CannotWrite() != nil {
		writable = 0
	}
	value(descWritable, prometheus.GaugeValue, writable)
	now := a.clock()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	found, err := a.directory.Activity(ctx, account.DefaultOrganization, now)
	if err != nil {
		a.log.Error("the activity could not be read for the metrics", "error", err)
		return
	}
	value(descRunning, prometheus.GaugeValue, float64(found.Running))
	value(descQueued, prometheus.GaugeValue, float64(found.Queued))
	oldest := 0.0
	if !found.Oldest.IsZero() {
		oldest = now.Sub(found.Oldest).Seconds()
	}
	value(descOldest, prometheus.GaugeValue, oldest)
	value(descPosts, prometheus.CounterValue, float64(found.Totals[mailbox.TallyPosts]))
	value(descAnswers, prometheus.CounterValue, float64(found.Totals[mailbox.TallyAnswers]))
	value(descFailures, prometheus.CounterValue, float64(found.Totals[mailbox.TallyFailures]))
	buckets := make(map[float64]uint64, len(mailbox.Waits))
	var sum uint64
	for i, n := range found.WaitTotals() {
		sum += uint64(max(0, n)) //nolint:gosec // counts are never negative.
		if i < len(mailbox.Waits) {
			buckets[float64(mailbox.Waits[i])] = sum
		}
	}
	to <- prometheus.MustNewConstHistogram(descWait, sum, float64(found.Totals[mailbox.TallyWaited])/1000, buckets)
}
