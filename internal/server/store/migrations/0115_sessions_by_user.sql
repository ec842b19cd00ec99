-- Whether somebody has ever had an agent is asked whenever they open the dashboard.
CREATE INDEX sessions_by_user ON sessions (user_id);
