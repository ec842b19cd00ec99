package daemon

import (
	"cmp"
	"context"
	"maps"
	"regexp"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/api"
	"github.com/svc-hq/svc/internal/server/jobs"
	"github.com/svc-hq/svc/internal/server/live"
	"github.com/svc-hq/svc/internal/server/store"
	"github.com/svc-hq/svc/internal/server/store/db"
	"github.com/svc-hq/svc/internal/server/trail"
)

// decisions count what svc is for: whether edits may go on.
type decisions struct {
	answers *prometheus.CounterVec
	seconds *prometheus.HistogramVec

	counters known[answered, prometheus.Counter]
	stages   known[string, prometheus.Observer]
}

// answered is what decisions are counted by.
type answered struct {
	event        wire.HookEvent
	answer, kind string
}

func newDecisions(to *prometheus.Registry) *decisions {
	d := &decisions{
		answers: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "svc_decisions_total",
			Help: "Answers to edits, commands and pushes, by answer and by what was in the way; unchecked: nobody looked, and why.",
		}, []string{"event", "answer", "kind"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "svc_decision_seconds",
			Help: "Time of a decision by stage; whole is all of it but authentication. Stages may lie within each other.",
			Buckets: []float64{
				.00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .2, .3, .5, 1, 2.5, 10,
			},
		}, []string{"stage"}),
	}
	to.MustRegister(d.answers, d.seconds)
	return d
}

func (d *decisions) count(x api.Decision) {
	d.counters.of(answered{x.Event, x.Answer, x.Kind}, func(a answered) prometheus.Counter {
		return d.answers.WithLabelValues(string(a.event), a.answer, a.kind)
	}).Inc()
	d.took("whole", x.Took)
	x.Stages.Took(func(s trail.Stage, took time.Duration) { d.took(s.String(), took) })
}

func (d *decisions) took(stage string, took time.Duration) {
	d.stages.of(stage, func(stage string) prometheus.Observer { return d.seconds.WithLabelValues(stage) }).Observe(took.Seconds())
}

// commits count how writes share commits.
type commits struct {
	writes  prometheus.Histogram
	seconds prometheus.Histogram
}

func newCommits(to *prometheus.Registry) commits {
	c := commits{
		writes: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "svc_commit_writes", Help: "Writes that share a commit.",
			Buckets: []float64{1, 2, 4, 8, 16, 32, 64}}),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "svc_commit_seconds",
			Help:    "Time of a commit with the writes that share it.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 5}}),
	}
	to.MustRegister(c.writes, c.seconds)
	return c
}

func (c commits) count(writes int, took time.Duration) {
	c.writes.Observe(float64(writes))
	c.seconds.Observe(took.Seconds())
}

// watched is all that metrics are about.
type watched struct {
	api       *api.API
	store     *store.Store
	live      *live.Set
	queue     *jobs.Queue
	strangers func(context.Context) (int, error) // of Money
	shipping  func() (age time.Duration, ok bool)
}

// A productCollector tells, when it is asked, what is live. What is in the
// database is the same on every replica; streams and indexes are this one's.
type productCollector struct{ watched }

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

var (
	sessionsLive = desc("svc_sessions", "Live agent sessions by host and version of svc; alike on every replica.", "host", "version")
	silentHosts  = desc("svc_silent_sessions",
		"Live sessions whose agent calls tools while its hooks have been silent for an hour, by host; alike on every replica.", "host")
	intentsLive   = desc("svc_intents", "Live intents by status; alike on every replica.", "status")
	conflictsLive = desc("svc_conflicts", "Live conflicts by kind and severity; alike on every replica.", "kind", "severity")
	eventsTold    = desc("svc_events_total", "Events told since the server was made; alike on every replica.")
	streamsOpen   = desc("svc_streams", "Open event streams.")
	waitsOpen     = desc("svc_waits", "Calls that wait for something to happen.")
	indexOrgs     = desc("svc_index_orgs", "Orgs whose live work is in memory.")
	indexEntries  = desc("svc_index_entries", "What is in memory of live work, by what it is.", "of")
	indexAge      = desc("svc_index_age_seconds", "Since the oldest of the indexes in memory was compared with the log.")
	connections   = desc("svc_database_connections", "Connections to the database by pool and state.", "pool", "state")
	connMost      = desc("svc_database_connections_max", "How many connections a pool may have.", "pool")
	connWaits     = desc("svc_database_waits_total", "How often somebody waited for a connection, by pool.", "pool")
	connWaited    = desc("svc_database_wait_seconds_total", "How long was waited for connections, by pool.", "pool")

	product = []*prometheus.Desc{sessionsLive, silentHosts, intentsLive, conflictsLive, eventsTold, streamsOpen, waitsOpen, indexOrgs,
		indexEntries, indexAge, connections, connMost, connWaits, connWaited}
)

func (c *productCollector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range product {
		to <- d
	}
}

func (c *productCollector) Collect(to chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	counter := func(d *prometheus.Desc, v float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, v, labels...)
	}
	streams, waits := c.api.Staying()
	gauge(streamsOpen, float64(streams))
	gauge(waitsOpen, float64(waits))
	size := c.live.Size()
	gauge(indexOrgs, float64(size.Orgs))
	gauge(indexEntries, float64(size.Workers), "work")
	gauge(indexEntries, float64(size.Changes), "changes")
	gauge(indexAge, size.Age.Seconds())
	for _, p := range c.store.Pools() {
		c.pool(p, gauge, counter)
	}
	f, err := c.figures()
	if err != nil {
		to <- prometheus.NewInvalidMetric(eventsTold, err)
		return
	}
	counter(eventsTold, float64(f.Events))
	for _, i := range f.Intents {
		gauge(intentsLive, float64(i.Count), i.Of)
	}
	for _, x := range f.Conflicts {
		gauge(conflictsLive, float64(x.Count), x.Of, x.Severity)
	}
	live, silent := sessionRows(f.Sessions)
	for k, n := range live {
		gauge(sessionsLive, float64(n), k.host, k.version)
	}
	for host, n := range silent {
		gauge(silentHosts, float64(n), host)
	}
}

func (c *productCollector) pool(p db.Pool, gauge, counter func(*prometheus.Desc, float64, ...string)) {
	gauge(connections, float64(p.Used), p.Name, "used")
	gauge(connections, float64(p.Idle), p.Name, "idle")
	gauge(connMost, float64(p.Most), p.Name)
	counter(connWaits, float64(p.Waits), p.Name)
	counter(connWaited, p.WaitSeconds, p.Name)
}

func (c *productCollector) figures() (f store.Figures, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	err = c.store.Read(ctx, func(tx *store.Tx) (err error) {
		f, err = tx.LiveFigures(ctx)
		return err
	})
	return f, err
}

type sessionRow struct{ host, version string }

// maxSessionRows is how many hosts and versions are told apart: clients say
// what they are, and may say anything.
const maxSessionRows = 50

var labelLike = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z.+_-]{0,39}$`)

// sessionRows adds up sessions by host and version. What is rare beyond
// maxSessionRows, or is no name, is "other".
func sessionRows(figures []store.SessionFigure) (live map[sessionRow]int64, silent map[string]int64) {
	live, silent = map[sessionRow]int64{}, map[string]int64{}
	tidy := func(s string) string {
		if labelLike.MatchString(s) {
			return s
		}
		return "other"
	}
	for _, f := range figures {
		live[sessionRow{tidy(f.Tool), tidy(f.Client.CLIVersion)}] += f.Count
		if f.Silent {
			silent[tidy(f.Tool)] += f.Count
		}
	}
	rows := slices.SortedFunc(maps.Keys(live), func(a, b sessionRow) int {
		return cmp.Or(cmp.Compare(live[b], live[a]), cmp.Compare(a.host, b.host), cmp.Compare(a.version, b.version))
	})
	for _, r := range rows[min(len(rows), maxSessionRows):] {
		n := live[r]
		delete(live, r)
		live[sessionRow{"other", "other"}] += n
	}
	for host := range silent {
		if len(silent) > maxSessionRows && host != "other" {
			silent["other"] += silent[host]
			delete(silent, host)
		}
	}
	return live, silent
}
