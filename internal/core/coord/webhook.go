package coord

import "slices"

// AllEvents as an event type means every type.
const AllEvents = "*"

// An EventChoice is an event type as endpoints ask for it: also all of them.
type EventChoice string

// Enum lists the values for the API document.
func (EventChoice) Enum() []string { return append([]string{AllEvents}, enum(EventTypes())...) }

// A Webhook is an endpoint of the org's that is told of events.
type Webhook struct {
	ID             string        `json:"id"`
	URL            string        `json:"url"`
	EventTypes     []EventChoice `json:"event_types"`
	Description    *string       `json:"description"`
	Enabled        bool          `json:"enabled" doc:"A disabled endpoint is enabled again by its test call"`
	Paused         bool          `json:"paused" doc:"Somebody holds it: events wait and are sent when it goes on"`
	PausedAt       *Time         `json:"paused_at"`
	OldSecretUntil *Time         `json:"old_secret_until" doc:"Until when requests are signed with the secret before, too"`
	DisabledAt     *Time         `json:"disabled_at"`
	DisabledReason *string       `json:"disabled_reason"`
	FailingSince   *Time         `json:"failing_since" doc:"Since when no delivery has succeeded although some were tried"`
	LastSuccessAt  *Time         `json:"last_success_at"`
	CreatedAt      Time          `json:"created_at"`

	OrgID         string `json:"-"`
	CreatedBy     string `json:"-"`
	Secret        string `json:"-"` // sealed
	OldSecret     string `json:"-"` // sealed; empty if none was replaced
	AfterSeq      int64  `json:"-"`
	Failures      int    `json:"-"`
	LastFailureAt *Time  `json:"-"`
	PausedUntil   *Time  `json:"-"`
}

// Wants reports whether the endpoint asked for events of a type.
func (w Webhook) Wants(t EventType) bool {
	return slices.Contains(w.EventTypes, AllEvents) || slices.Contains(w.EventTypes, EventChoice(t))
}

// A DeliveryStatus is where a delivery stands.
type DeliveryStatus string

const (
	DeliveryPending   DeliveryStatus = "pending"
	DeliveryDelivered DeliveryStatus = "delivered"
	DeliveryFailed    DeliveryStatus = "failed"
)

// Enum lists the values for the API document.
func (DeliveryStatus) Enum() []string {
	return enum([]DeliveryStatus{DeliveryPending, DeliveryDelivered, DeliveryFailed})
}

// A Delivery is one event on its way to one endpoint.
type Delivery struct {
	ID             string         `json:"id"`
	EventID        string         `json:"event_id"`
	EventType      EventType      `json:"event_type"`
	Status         DeliveryStatus `json:"status"`
	Attempts       int            `json:"attempts"`
	ResponseStatus *int           `json:"response_status"`
	ResponseMS     *int           `json:"response_ms"`
	Error          *string        `json:"error"`
	NextAttemptAt  *Time          `json:"next_attempt_at"`
	CreatedAt      Time           `json:"created_at"`
	DeliveredAt    *Time          `json:"delivered_at"`

	WebhookID string `json:"-"`
	OrgID     string `json:"-"`
	EventSeq  int64  `json:"-"`
}

// MessageID is the id under which the receiver can tell repetitions: the same
// at every attempt.
func (d Delivery) MessageID() string { return "msg_" + d.ID }
