package wire

import "github.com/svc-hq/svc/internal/core/coord"

// CreateWebhook adds an endpoint.
type CreateWebhook struct {
	URL         string   `json:"url" minLength:"1" maxLength:"2000" format:"uri"`
	EventTypes  []string `json:"event_types" minItems:"1" maxItems:"60" itemMinLength:"1" itemMaxLength:"60" doc:"Event types, or * for all, which is the default"`
	Description *string  `json:"description" maxLength:"200"`
}

// CreatedWebhook is a new endpoint with its secret, shown this once.
type CreatedWebhook struct {
	coord.Webhook
	Secret string `json:"secret" doc:"Standard Webhooks signing secret; shown this once"`
}

// ListDeliveries reads an endpoint's delivery log.
type ListDeliveries struct {
	ID    string `path:"id"`
	Limit int    `query:"limit" minimum:"1" maximum:"200" default:"50"`
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
