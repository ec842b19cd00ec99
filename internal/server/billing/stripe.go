package billing

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

// What is spoken with Stripe: seven requests and one signature. The official
// library takes a sixth of the time to build svcd, for every resource that
// Stripe has; tests hold these requests to Stripe's own document instead.
const (
	api        = "https://api.stripe.com"
	apiVersion = "2026-03-25.dahlia" // a newer one may name fields differently
	maxReply   = 8 << 20
	tolerance  = 5 * time.Minute // between a webhook's signature and now
)

// An apiError is what Stripe says of a request that failed.
type apiError struct {
	Status  int
	Type    string
	Code    string
	Message string
}

func (e *apiError) Error() string {
	return fmt.Sprintf("Stripe answered %d %s: %s", e.Status, cmp.Or(e.Code, e.Type, "without a reason"), e.Message)
}

// post changes something. A key makes two requests one; without one, only a
// repetition by ourselves is.
func (s *Stripe) post(ctx context.Context, path, key string, form url.Values, out any) error {
	return s.call(ctx, http.MethodPost, path, cmp.Or(key, uuid.NewString()), form, out)
}

// get reads something.
func (s *Stripe) get(ctx context.Context, path string, query url.Values, out any) error {
	return s.call(ctx, http.MethodGet, path+"?"+query.Encode(), "", nil, out)
}

// call asks twice if the first answer is lost, or says that it is worth it.
func (s *Stripe) call(ctx context.Context, method, path, key string, form url.Values, out any) error {
	again, err := s.once(ctx, method, path, key, form, out)
	if err != nil && again && ctx.Err() == nil {
		_, err = s.once(ctx, method, path, key, form, out)
	}
	return err
}

func (s *Stripe) once(ctx context.Context, method, path, key string, form url.Values, out any) (again bool, err error) {
	req, err := http.NewRequestWithContext(ctx, method, cmp.Or(strings.TrimRight(s.cfg.URL, "/"), api)+path, strings.NewReader(form.Encode()))
	if err != nil {
		return false, err
	}
	req.Header.Set("Authorization", "Bearer "+s.cfg.Key)
	req.Header.Set("Stripe-Version", apiVersion)
	if key != "" {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Idempotency-Key", key)
	}
	res, err := s.http.Do(req)
	if err != nil {
		return true, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxReply))
	if err != nil {
		return true, err
	}
	if res.StatusCode >= 300 {
		var said struct{ Error apiError }
		_ = json.Unmarshal(body, &said) // the status alone is an answer, too
		said.Error.Status = res.StatusCode
		return worthAgain(res), &said.Error
	}
	return false, json.Unmarshal(body, out)
}

// worthAgain goes by what Stripe says of it, else by the status.
func worthAgain(res *http.Response) bool {
	if said, err := strconv.ParseBool(res.Header.Get("Stripe-Should-Retry")); err == nil {
		return said
	}
	return res.StatusCode == http.StatusConflict || res.StatusCode >= http.StatusInternalServerError
}

// verify holds a webhook to its signature, which names a time and one
// signature for each secret that is in use while secrets change.
func verify(body []byte, header, secret string, now time.Time) error {
	if header == "" {
		return ErrUnsigned
	}
	var at int64
	var given [][]byte
	for part := range strings.SplitSeq(header, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch name {
		case "t":
			at, _ = strconv.ParseInt(value, 10, 64) // a wrong one has no valid signature
		case "v1":
			if sum, err := hex.DecodeString(value); err == nil {
				given = append(given, sum)
			}
		}
	}
	mac := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(mac, "%d.%s", at, body)
	want := mac.Sum(nil)
	for _, sum := range given {
		if !hmac.Equal(sum, want) {
			continue
		}
		if now.Sub(time.Unix(at, 0)).Abs() > tolerance {
			return ErrStale
		}
		return nil
	}
	return ErrForged
}

// A price, a subscription and an event, as far as they are read.
type (
	price struct {
		ID            string
		Active        bool
		BillingScheme string `json:"billing_scheme"`
		Created       int64
		Currency      string
		LookupKey     string `json:"lookup_key"`
		Metadata      map[string]string
		Recurring     *struct {
			Interval      string
			IntervalCount int    `json:"interval_count"`
			UsageType     string `json:"usage_type"`
		}
		TaxBehavior string `json:"tax_behavior"`
		UnitAmount  *int64 `json:"unit_amount"`
		// UnitAmountDecimal is the same with fractions of a cent.
		UnitAmountDecimal string `json:"unit_amount_decimal"`
	}
	subscription struct {
		ID                string
		Status            string
		Created           int64
		CancelAt          int64 `json:"cancel_at"`
		CancelAtPeriodEnd bool  `json:"cancel_at_period_end"`
		Items             list[struct {
			ID               string
			Price            *price
			Quantity         int
			CurrentPeriodEnd int64 `json:"current_period_end"`
		}]
	}
	event struct {
		ID     string
		Object string
		Type   string
		Data   *struct{ Object json.RawMessage }
	}
	list[T any] struct {
		Data    []T
		HasMore bool `json:"has_more"`
	}
)
