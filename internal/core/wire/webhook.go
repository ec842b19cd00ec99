package wire

import "github.com/svc-hq/svc/internal/core/coord"

// CreateWebhook adds an endpoint.
type CreateWebhook struct {
	URL         string              `json:"url" minLength:"1" maxLength:"2000" format:"uri"`
	EventTypes  []coord.EventChoice `json:"event_types" minItems:"1" maxItems:"100" doc:"Event types, or * for all, which is the default"`
	Description *string             `json:"description" maxLength:"200"`
}

// PatchWebhook changes an endpoint. What is left out stays.
type PatchWebhook struct {
	ID          string               `path:"id"`
	URL         *string              `json:"url,omitempty" minLength:"1" maxLength:"2000" format:"uri" doc:"What waits goes there, too"`
	EventTypes  *[]coord.EventChoice `json:"event_types,omitempty" minItems:"1" maxItems:"100" doc:"Event types, or * for all"`
	Description *string              `json:"description,omitempty" maxLength:"200" clear:"yes"`
	Paused      *bool                `json:"paused,omitempty" doc:"true: nothing is sent, and events wait; false: what waited is sent"`
	Clearing
}

// RotatedSecret is an endpoint's new secret, shown this once.
type RotatedSecret struct {
	Secret         string     `json:"secret" doc:"Standard Webhooks signing secret; shown this once"`
	OldSecretUntil coord.Time `json:"old_secret_until" doc:"Until then requests carry a signature with the secret before, too"`
}

// ReplayDeliveries says which deliveries to make again.
type ReplayDeliveries struct {
	ID    string  `path:"id"`
	Since string  `json:"since" format:"date-time" doc:"From then on"`
	Until *string `json:"until,omitempty" format:"date-time" doc:"Up to then; now if missing"`
	Only  string  `json:"only,omitempty" enum:"failed,all" default:"all" doc:"failed: only what did not arrive; all: also what did, and what the endpoint was not sent while it was off"`
}

// Replayed says how much is on its way again.
type Replayed struct {
	Queued int  `json:"queued" doc:"Deliveries that are on their way again"`
	More   bool `json:"more" doc:"There is more that was never sent: call it again"`
}

// CreatedWebhook is a new endpoint with its secret, shown this once.
type CreatedWebhook struct {
	coord.Webhook
	Secret string `json:"secret" doc:"Standard Webhooks signing secret; shown this once"`
}

// ListDeliveries reads an endpoint's delivery log.
type ListDeliveries struct {
	ID string `path:"id"`
	List
	Status []coord.DeliveryStatus `query:"status" maxItems:"3"`
}

// Redeliver names a delivery to try again.
type Redeliver struct {
	ID       string `path:"id"`
	Delivery string `path:"delivery"`
}

// DeliveryQueued is a delivery that is on its way.
type DeliveryQueued struct {
	DeliveryID string `json:"delivery_id" format:"uuid"`
}
