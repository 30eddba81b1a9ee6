-- The schema after all migrations, for reading. Written by `npm run docs:schema`; do not edit.
-- Each table is followed by its indexes and triggers. The functions are at the end.

CREATE UNLOGGED TABLE activity_amounts (
  minute timestamp with time zone NOT NULL,
  instance_id text NOT NULL,
  currency text NOT NULL,
  bet_minor bigint NOT NULL,
  win_minor bigint NOT NULL,
  CONSTRAINT activity_amounts_pkey PRIMARY KEY (minute, instance_id, currency)
) WITH (fillfactor=70);

CREATE UNLOGGED TABLE activity_minutes (
  minute timestamp with time zone NOT NULL,
  instance_id text NOT NULL,
  bets integer NOT NULL,
  wins integer NOT NULL,
  rollbacks integer NOT NULL,
  declined integer NOT NULL,
  undecided integer NOT NULL,
  refused integer NOT NULL,
  CONSTRAINT activity_minutes_pkey PRIMARY KEY (minute, instance_id),
  CONSTRAINT activity_minutes_bets_check CHECK ((bets >= 0)),
  CONSTRAINT activity_minutes_declined_check CHECK ((declined >= 0)),
  CONSTRAINT activity_minutes_minute_check CHECK (((EXTRACT(epoch FROM minute) % (60)::numeric) = (0)::numeric)),
  CONSTRAINT activity_minutes_refused_check CHECK ((refused >= 0)),
  CONSTRAINT activity_minutes_rollbacks_check CHECK ((rollbacks >= 0)),
  CONSTRAINT activity_minutes_undecided_check CHECK ((undecided >= 0)),
  CONSTRAINT activity_minutes_wins_check CHECK ((wins >= 0))
) WITH (fillfactor=70);

CREATE TABLE admin_keys (
  id uuid NOT NULL,
  name text NOT NULL,
  role text NOT NULL,
  key_hash bytea NOT NULL,
  created_at timestamp(3) with time zone NOT NULL,
  last_used_at timestamp(3) with time zone,
  revoked_at timestamp(3) with time zone,
  created_by text,
  expires_at timestamp with time zone,
  CONSTRAINT admin_keys_pkey PRIMARY KEY (id),
  CONSTRAINT admin_keys_key_hash_check CHECK ((octet_length(key_hash) = 32)),
  CONSTRAINT admin_keys_key_hash_key UNIQUE (key_hash),
  CONSTRAINT admin_keys_role_check CHECK ((role = ANY (ARRAY['admin'::text, 'operations'::text, 'promotions'::text, 'support'::text, 'auditor'::text])))
);
CREATE INDEX admin_keys_live ON admin_keys USING btree (created_at, id) WHERE (revoked_at IS NULL);

CREATE TABLE approvals (
  approval_id uuid NOT NULL,
  state text NOT NULL,
  kind text NOT NULL,
  reference text NOT NULL,
  deed json NOT NULL,
  fingerprint bytea NOT NULL,
  operator_id text NOT NULL,
  currency text NOT NULL,
  amount_minor bigint NOT NULL,
  limit_name text,
  limit_minor bigint,
  used_minor bigint,
  asked_by text NOT NULL,
  asked_by_name text,
  expires_at timestamp with time zone NOT NULL,
  decided_by text,
  decided_by_name text,
  decided_at timestamp with time zone,
  reason text,
  failure_code text,
  failure_error text,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT approvals_pkey PRIMARY KEY (approval_id),
  CONSTRAINT approvals_amount_minor_check CHECK ((abs(amount_minor) <= '9007199254740991'::bigint)),
  CONSTRAINT approvals_check CHECK (((state = ANY (ARRAY['APPROVED'::text, 'REJECTED'::text])) = (decided_by IS NOT NULL))),
  CONSTRAINT approvals_check1 CHECK (((decided_by IS NULL) = (decided_at IS NULL))),
  CONSTRAINT approvals_check2 CHECK (((failure_code IS NULL) OR (state = 'APPROVED'::text))),
  CONSTRAINT approvals_check3 CHECK (((failure_code IS NULL) = (failure_error IS NULL))),
  CONSTRAINT approvals_fingerprint_check CHECK ((octet_length(fingerprint) = 32)),
  CONSTRAINT approvals_state_check CHECK ((state = ANY (ARRAY['WAITING'::text, 'APPROVED'::text, 'REJECTED'::text, 'EXPIRED'::text])))
);
CREATE INDEX approvals_by_time ON approvals USING btree (created_at, approval_id);
CREATE INDEX approvals_expiring ON approvals USING btree (expires_at) WHERE (state = 'WAITING'::text);
CREATE INDEX approvals_of_operator ON approvals USING btree (operator_id, created_at, approval_id);
CREATE INDEX approvals_of_state ON approvals USING btree (state, created_at, approval_id);
CREATE UNIQUE INDEX approvals_waiting ON approvals USING btree (kind, reference) WHERE (state = 'WAITING'::text);

CREATE TABLE attempt_ids (
  provider_id text NOT NULL,
  transaction_id text NOT NULL,
  platform_transaction_id uuid NOT NULL,
  request_id text COLLATE "C",
  operator_transaction_id text COLLATE "C",
  created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
) WITH (autovacuum_vacuum_threshold=100000, autovacuum_vacuum_scale_factor=0.01, vacuum_index_cleanup=on);
CREATE INDEX attempt_ids_by_time ON attempt_ids USING btree (created_at);
CREATE INDEX attempt_ids_of_operator ON attempt_ids USING btree (operator_transaction_id, created_at) WHERE (operator_transaction_id IS NOT NULL);
CREATE INDEX attempt_ids_of_platform ON attempt_ids USING btree (platform_transaction_id, created_at);
CREATE INDEX attempt_ids_of_request ON attempt_ids USING btree (request_id, created_at) WHERE (request_id IS NOT NULL);

CREATE TABLE attention_events (
  item_id uuid NOT NULL,
  event_no bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  event text NOT NULL,
  actor text NOT NULL,
  actor_name text,
  text text,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT attention_events_pkey PRIMARY KEY (item_id, event_no),
  CONSTRAINT attention_events_event_check CHECK ((event = ANY (ARRAY['opened'::text, 'assigned'::text, 'unassigned'::text, 'snoozed'::text, 'woken'::text, 'commented'::text, 'closed'::text, 'updated'::text]))),
  CONSTRAINT attention_events_item_id_fkey FOREIGN KEY (item_id) REFERENCES attention_items(item_id)
);
CREATE INDEX attention_events_by_number ON attention_events USING btree (event_no);

CREATE TABLE attention_items (
  item_id uuid NOT NULL,
  kind text NOT NULL,
  subject text NOT NULL,
  state text NOT NULL,
  cause_present boolean DEFAULT true NOT NULL,
  operator_id text,
  provider_id text,
  summary text NOT NULL,
  count integer,
  href text,
  range_from timestamp with time zone,
  range_to timestamp with time zone,
  assignee text,
  snoozed_until timestamp with time zone,
  closed_at timestamp with time zone,
  closed_by text,
  closed_by_name text,
  close_reason text,
  created_at timestamp with time zone NOT NULL,
  parked_at timestamp with time zone,
  duplicate_of text,
  CONSTRAINT attention_items_pkey PRIMARY KEY (item_id),
  CONSTRAINT attention_items_check CHECK (((state = 'SNOOZED'::text) = (snoozed_until IS NOT NULL))),
  CONSTRAINT attention_items_check1 CHECK (((state = 'CLOSED'::text) = (closed_at IS NOT NULL))),
  CONSTRAINT attention_items_check2 CHECK (((state = 'CLOSED'::text) = (closed_by IS NOT NULL))),
  CONSTRAINT attention_items_check3 CHECK ((cause_present OR (state = 'CLOSED'::text))),
  CONSTRAINT attention_items_check4 CHECK (((range_from IS NULL) = (range_to IS NULL))),
  CONSTRAINT attention_items_count_check CHECK ((count > 0)),
  CONSTRAINT attention_items_kind_check CHECK ((kind = ANY (ARRAY['transaction'::text, 'round'::text, 'grant'::text, 'winnings'::text, 'revocation'::text, 'approval'::text, 'reconciliation'::text]))),
  CONSTRAINT attention_items_state_check CHECK ((state = ANY (ARRAY['OPEN'::text, 'SNOOZED'::text, 'CLOSED'::text])))
);
CREATE INDEX attention_items_by_time ON attention_items USING btree (created_at, item_id);
CREATE INDEX attention_items_of_assignee ON attention_items USING btree (assignee, created_at, item_id) WHERE (assignee IS NOT NULL);
CREATE INDEX attention_items_of_kind ON attention_items USING btree (kind, created_at, item_id);
CREATE INDEX attention_items_of_operator ON attention_items USING btree (operator_id, created_at, item_id);
CREATE INDEX attention_items_of_provider ON attention_items USING btree (provider_id, created_at, item_id);
CREATE INDEX attention_items_of_state ON attention_items USING btree (state, created_at, item_id);
CREATE UNIQUE INDEX attention_items_present ON attention_items USING btree (kind, subject) WHERE cause_present;
CREATE INDEX attention_items_snoozed ON attention_items USING btree (snoozed_until) WHERE (state = 'SNOOZED'::text);

CREATE TABLE attention_scans (
  name text NOT NULL,
  ran_at timestamp with time zone NOT NULL,
  CONSTRAINT attention_scans_pkey PRIMARY KEY (name)
);

CREATE TABLE audit_entries (
  day date DEFAULT audit_next_day() NOT NULL,
  position integer NOT NULL,
  created_at timestamp(3) with time zone NOT NULL,
  actor text NOT NULL,
  role text NOT NULL,
  action text NOT NULL,
  target text NOT NULL,
  before json,
  after json,
  address text,
  request_id text,
  previous_hash bytea NOT NULL,
  hash bytea NOT NULL,
  actor_name text,
  outcome text,
  CONSTRAINT audit_entries_pkey PRIMARY KEY (day, "position"),
  CONSTRAINT audit_entries_check CHECK (((outcome IS NOT NULL) OR (actor_name IS NULL))),
  CONSTRAINT audit_entries_hash_check CHECK ((octet_length(hash) = 32)),
  CONSTRAINT audit_entries_position_check CHECK (("position" > 0)),
  CONSTRAINT audit_entries_previous_hash_check CHECK ((octet_length(previous_hash) = 32))
) PARTITION BY RANGE (day);
CREATE INDEX audit_entries_action ON ONLY audit_entries USING btree (action, day, "position");
CREATE INDEX audit_entries_actor ON ONLY audit_entries USING btree (actor, day, "position");
CREATE INDEX audit_entries_actor_action ON ONLY audit_entries USING btree (actor, action, day, "position");
CREATE INDEX audit_entries_created_at ON ONLY audit_entries USING btree (created_at);
CREATE INDEX audit_entries_outcome ON ONLY audit_entries USING btree (outcome, day, "position") WHERE (outcome <> 'done'::text);
CREATE INDEX audit_entries_request_id ON ONLY audit_entries USING btree (request_id, day, "position");
CREATE INDEX audit_entries_target ON ONLY audit_entries USING btree (target, day, "position");
CREATE TRIGGER audit_entries_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON audit_entries FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse();
CREATE TRIGGER audit_entries_chain BEFORE INSERT ON audit_entries FOR EACH ROW EXECUTE FUNCTION audit_chain();
CREATE TRIGGER audit_entries_lock BEFORE INSERT ON audit_entries FOR EACH STATEMENT EXECUTE FUNCTION audit_lock();

CREATE TABLE audit_seals (
  number bigint NOT NULL,
  day date NOT NULL,
  position integer NOT NULL,
  key_id text NOT NULL,
  mac bytea NOT NULL,
  CONSTRAINT audit_seals_pkey PRIMARY KEY (number),
  CONSTRAINT audit_seals_day_position_key UNIQUE (day, "position"),
  CONSTRAINT audit_seals_key_id_check CHECK ((key_id ~ '^[0-9a-f]{8}$'::text)),
  CONSTRAINT audit_seals_mac_check CHECK ((octet_length(mac) = 32)),
  CONSTRAINT audit_seals_number_check CHECK ((number > 0)),
  CONSTRAINT audit_seals_position_check CHECK (("position" > 0))
);
CREATE TRIGGER audit_seals_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON audit_seals FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse();
CREATE TRIGGER audit_seals_follow BEFORE INSERT ON audit_seals FOR EACH ROW EXECUTE FUNCTION audit_seal_follows();

CREATE TABLE callbacks (
  callback_id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  provider_id text NOT NULL,
  route text NOT NULL,
  reference text NOT NULL,
  request_id text,
  body text NOT NULL,
  status integer,
  answer text,
  error text,
  duration_ms integer,
  created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
  completed_at timestamp with time zone,
  CONSTRAINT callbacks_pkey PRIMARY KEY (callback_id, created_at),
  CONSTRAINT callbacks_check CHECK (((completed_at IS NULL) = (duration_ms IS NULL))),
  CONSTRAINT callbacks_check1 CHECK (((completed_at IS NOT NULL) OR ((status IS NULL) AND (answer IS NULL) AND (error IS NULL)))),
  CONSTRAINT callbacks_check2 CHECK (((completed_at IS NULL) OR (status IS NOT NULL) OR (error IS NOT NULL))),
  CONSTRAINT callbacks_duration_ms_check CHECK ((duration_ms >= 0))
) PARTITION BY RANGE (created_at);
CREATE INDEX callbacks_by_time ON ONLY callbacks USING btree (created_at, callback_id);
CREATE INDEX callbacks_of_provider ON ONLY callbacks USING btree (provider_id, created_at, callback_id);
CREATE INDEX callbacks_of_reference ON ONLY callbacks USING btree (reference, created_at, callback_id);
CREATE INDEX callbacks_of_request ON ONLY callbacks USING btree (request_id, created_at, callback_id) WHERE (request_id IS NOT NULL);
CREATE INDEX callbacks_of_route ON ONLY callbacks USING btree (route, created_at, callback_id);

CREATE TABLE flaggable_wins (
  provider_id text NOT NULL,
  transaction_id text NOT NULL,
  platform_transaction_id uuid NOT NULL,
  operator_id text NOT NULL,
  created_at timestamp with time zone NOT NULL,
  marked_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
  free_spins_ref text,
  CONSTRAINT flaggable_wins_pkey PRIMARY KEY (provider_id, transaction_id)
);
CREATE INDEX flaggable_wins_by_mark ON flaggable_wins USING btree (marked_at);
CREATE INDEX flaggable_wins_by_time ON flaggable_wins USING btree (created_at, platform_transaction_id);
CREATE INDEX flaggable_wins_of_free_spins ON flaggable_wins USING btree (provider_id, free_spins_ref) WHERE (free_spins_ref IS NOT NULL);
CREATE INDEX flaggable_wins_of_operator ON flaggable_wins USING btree (operator_id, created_at, platform_transaction_id);

CREATE TABLE free_spin_batches (
  batch_id uuid NOT NULL,
  batch_ref text,
  operator_id text NOT NULL,
  fingerprint bytea NOT NULL,
  created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
  game_id text,
  status_due_since timestamp with time zone,
  status_request_id text,
  status_run integer DEFAULT 0 NOT NULL,
  status_lease_until timestamp with time zone,
  CONSTRAINT free_spin_batches_pkey PRIMARY KEY (batch_id),
  CONSTRAINT free_spin_batches_batch_ref_key UNIQUE (batch_ref),
  CONSTRAINT free_spin_batches_fingerprint_check CHECK ((octet_length(fingerprint) = 32)),
  CONSTRAINT free_spin_batches_operator_id_fkey FOREIGN KEY (operator_id) REFERENCES tenants(id)
);
CREATE INDEX free_spin_batches_by_time ON free_spin_batches USING btree (created_at, batch_id);
CREATE INDEX free_spin_batches_of_game ON free_spin_batches USING btree (game_id, created_at, batch_id);
CREATE INDEX free_spin_batches_of_operator ON free_spin_batches USING btree (operator_id, created_at, batch_id);
CREATE INDEX free_spin_batches_status_due ON free_spin_batches USING btree (status_due_since) WHERE (status_due_since IS NOT NULL);

CREATE TABLE free_spin_grants (
  grant_no bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  request_ref text NOT NULL,
  state text NOT NULL,
  operator_id text NOT NULL,
  provider_id text NOT NULL,
  player_ref text NOT NULL,
  game_id text NOT NULL,
  spins integer NOT NULL,
  bet_amount_minor bigint NOT NULL,
  currency text NOT NULL,
  attempt integer NOT NULL,
  lease_until timestamp with time zone,
  external_ref text,
  failure_status integer,
  failure_error text,
  outcome_unknown boolean DEFAULT false NOT NULL,
  remaining_spins bigint,
  completed boolean,
  status_checked_at timestamp with time zone,
  cancel_attempt integer DEFAULT 0 NOT NULL,
  cancel_lease_until timestamp with time zone,
  last_cancel_error text,
  cancelled_at timestamp with time zone,
  batch_id uuid,
  created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
  updated_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
  carried_out_at timestamp with time zone,
  cancel_due boolean DEFAULT false NOT NULL,
  request_id text,
  cancel_request_id text,
  granted_at timestamp with time zone,
  duplicate_of text,
  expires_at timestamp with time zone,
  expiry text,
  CONSTRAINT free_spin_grants_pkey PRIMARY KEY (grant_no),
  CONSTRAINT free_spin_grants_attempt_check CHECK ((attempt >= 0)),
  CONSTRAINT free_spin_grants_batch_id_fkey FOREIGN KEY (batch_id) REFERENCES free_spin_batches(batch_id),
  CONSTRAINT free_spin_grants_bet_amount_minor_check CHECK (((bet_amount_minor >= 0) AND (bet_amount_minor <= '9007199254740991'::bigint))),
  CONSTRAINT free_spin_grants_check CHECK (((lease_until IS NULL) OR (state = 'PENDING'::text))),
  CONSTRAINT free_spin_grants_check2 CHECK (((state = 'FAILED'::text) = (failure_error IS NOT NULL))),
  CONSTRAINT free_spin_grants_check3 CHECK (((failure_status IS NULL) OR (state = 'FAILED'::text))),
  CONSTRAINT free_spin_grants_check4 CHECK (((NOT outcome_unknown) OR (state = ANY (ARRAY['PENDING'::text, 'FAILED'::text])))),
  CONSTRAINT free_spin_grants_check5 CHECK (((state = 'CANCELLED'::text) = (cancelled_at IS NOT NULL))),
  CONSTRAINT free_spin_grants_check6 CHECK (((cancel_lease_until IS NULL) OR (state = 'GRANTED'::text))),
  CONSTRAINT free_spin_grants_check7 CHECK (((status_checked_at IS NULL) = (remaining_spins IS NULL))),
  CONSTRAINT free_spin_grants_check8 CHECK (((status_checked_at IS NULL) = (completed IS NULL))),
  CONSTRAINT free_spin_grants_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
  CONSTRAINT free_spin_grants_duplicate CHECK (((duplicate_of IS NULL) OR ((granted_at IS NOT NULL) AND (duplicate_of <> request_ref)))),
  CONSTRAINT free_spin_grants_duplicate_of_fkey FOREIGN KEY (duplicate_of) REFERENCES free_spin_grants(request_ref),
  CONSTRAINT free_spin_grants_expiry CHECK (((expiry IS NULL) OR ((expiry = ANY (ARRAY['BEGUN'::text, 'FAILED'::text])) AND (expires_at IS NOT NULL) AND (state = ANY (ARRAY['GRANTED'::text, 'CANCELLED'::text]))))),
  CONSTRAINT free_spin_grants_external_ref_check CHECK ((external_ref <> ''::text)),
  CONSTRAINT free_spin_grants_game_id_fkey FOREIGN KEY (game_id) REFERENCES games(game_id),
  CONSTRAINT free_spin_grants_granted CHECK (((granted_at IS NULL) OR (external_ref IS NOT NULL))),
  CONSTRAINT free_spin_grants_named CHECK ((((state = 'GRANTED'::text) <= (external_ref IS NOT NULL)) AND ((external_ref IS NOT NULL) <= (state = ANY (ARRAY['GRANTED'::text, 'CANCELLED'::text]))))),
  CONSTRAINT free_spin_grants_operator_id_fkey FOREIGN KEY (operator_id) REFERENCES tenants(id),
  CONSTRAINT free_spin_grants_provider_id_fkey FOREIGN KEY (provider_id) REFERENCES tenants(id),
  CONSTRAINT free_spin_grants_remaining_spins_check CHECK (((remaining_spins >= 0) AND (remaining_spins <= '9007199254740991'::bigint))),
  CONSTRAINT free_spin_grants_request_ref_key UNIQUE (request_ref),
  CONSTRAINT free_spin_grants_spins_check CHECK (((spins >= 1) AND (spins <= 1000))),
  CONSTRAINT free_spin_grants_state_check CHECK ((state = ANY (ARRAY['PENDING'::text, 'GRANTED'::text, 'FAILED'::text, 'CANCELLED'::text])))
);
CREATE INDEX free_spin_grants_by_time ON free_spin_grants USING btree (created_at, grant_no);
CREATE INDEX free_spin_grants_cancel_failed ON free_spin_grants USING btree (updated_at, request_ref) WHERE ((batch_id IS NOT NULL) AND (state = 'GRANTED'::text) AND (last_cancel_error IS NOT NULL) AND (expiry IS NULL) AND (completed IS NOT TRUE) AND (duplicate_of IS NULL));
CREATE INDEX free_spin_grants_duplicates ON free_spin_grants USING btree (granted_at, request_ref) WHERE (duplicate_of IS NOT NULL);
CREATE INDEX free_spin_grants_expiring ON free_spin_grants USING btree (expires_at) WHERE ((state = 'GRANTED'::text) AND (expires_at IS NOT NULL) AND (expiry IS NULL) AND (completed IS NOT TRUE) AND (duplicate_of IS NULL));
CREATE INDEX free_spin_grants_expiry_failed ON free_spin_grants USING btree (updated_at, request_ref) WHERE ((state = 'GRANTED'::text) AND (expiry = 'FAILED'::text));
CREATE INDEX free_spin_grants_external_by_time ON free_spin_grants USING btree (provider_id, external_ref, COALESCE(granted_at, created_at), grant_no) WHERE ((external_ref IS NOT NULL) AND (duplicate_of IS NULL));
CREATE INDEX free_spin_grants_external_of_player ON free_spin_grants USING btree (provider_id, external_ref, operator_id, player_ref) WHERE (external_ref IS NOT NULL);
CREATE INDEX free_spin_grants_failed ON free_spin_grants USING btree (updated_at, request_ref) WHERE (state = 'FAILED'::text);
CREATE INDEX free_spin_grants_failed_of_batch ON free_spin_grants USING btree (batch_id) WHERE ((state = 'FAILED'::text) AND (batch_id IS NOT NULL));
CREATE INDEX free_spin_grants_moot_cancels ON free_spin_grants USING btree (grant_no) WHERE ((state = 'GRANTED'::text) AND cancel_due AND (completed OR (duplicate_of IS NOT NULL)));
CREATE INDEX free_spin_grants_of_batch ON free_spin_grants USING btree (batch_id, grant_no) WHERE (batch_id IS NOT NULL);
CREATE INDEX free_spin_grants_of_batches_changed ON free_spin_grants USING btree (updated_at) WHERE (batch_id IS NOT NULL);
CREATE INDEX free_spin_grants_of_currency ON free_spin_grants USING btree (currency, operator_id, COALESCE(carried_out_at, created_at));
CREATE INDEX free_spin_grants_of_game ON free_spin_grants USING btree (game_id, grant_no);
CREATE INDEX free_spin_grants_of_operator ON free_spin_grants USING btree (operator_id, grant_no);
CREATE INDEX free_spin_grants_of_player ON free_spin_grants USING btree (player_ref, grant_no);
CREATE INDEX free_spin_grants_of_provider ON free_spin_grants USING btree (provider_id, grant_no);
CREATE INDEX free_spin_grants_of_state ON free_spin_grants USING btree (state, grant_no);
CREATE INDEX free_spin_grants_sent ON free_spin_grants USING btree (lease_until) WHERE (lease_until IS NOT NULL);
CREATE INDEX free_spin_grants_to_cancel_in_turn ON free_spin_grants USING btree (provider_id, operator_id, grant_no) WHERE ((state = 'GRANTED'::text) AND cancel_due);
CREATE INDEX free_spin_grants_unsent ON free_spin_grants USING btree (provider_id, grant_no) WHERE ((state = 'PENDING'::text) AND (lease_until IS NULL));
CREATE INDEX free_spin_grants_unsent_expiring ON free_spin_grants USING btree (expires_at) WHERE ((state = 'PENDING'::text) AND (lease_until IS NULL) AND (expires_at IS NOT NULL));
CREATE INDEX free_spin_grants_unsent_in_turn ON free_spin_grants USING btree (provider_id, operator_id, grant_no) WHERE ((state = 'PENDING'::text) AND (lease_until IS NULL));

CREATE TABLE games (
  game_id text NOT NULL,
  provider_id text NOT NULL,
  name text NOT NULL,
  status text NOT NULL,
  launch_url text,
  created_at timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  round_details_url text,
  CONSTRAINT games_pkey PRIMARY KEY (game_id),
  CONSTRAINT games_provider_id_fkey FOREIGN KEY (provider_id) REFERENCES tenants(id),
  CONSTRAINT games_round_details_url_check CHECK ((length(round_details_url) <= 1000)),
  CONSTRAINT games_status_check CHECK ((status = ANY (ARRAY['ACTIVE'::text, 'DISABLED'::text])))
);
CREATE TRIGGER games_changed AFTER INSERT OR DELETE OR UPDATE ON games FOR EACH STATEMENT EXECUTE FUNCTION tenancy_changed();

CREATE UNLOGGED TABLE health_periods (
  tenant_id text NOT NULL,
  started_at timestamp with time zone NOT NULL,
  instance_id uuid NOT NULL,
  calls integer NOT NULL,
  succeeded integer NOT NULL,
  timeouts integer NOT NULL,
  latency integer[] NOT NULL,
  breaker_open_until timestamp with time zone,
  CONSTRAINT health_periods_pkey PRIMARY KEY (tenant_id, started_at, instance_id),
  CONSTRAINT health_periods_calls_check CHECK ((calls >= 0)),
  CONSTRAINT health_periods_check CHECK (((succeeded >= 0) AND (succeeded <= calls))),
  CONSTRAINT health_periods_check1 CHECK (((timeouts >= 0) AND (timeouts <= (calls - succeeded))))
) WITH (fillfactor=70);
CREATE INDEX health_periods_by_time ON health_periods USING btree (started_at);

CREATE UNLOGGED TABLE instances (
  instance_id text NOT NULL,
  version text NOT NULL,
  started_at timestamp with time zone NOT NULL,
  ready boolean NOT NULL,
  seen_at timestamp with time zone NOT NULL,
  CONSTRAINT instances_pkey PRIMARY KEY (instance_id)
) WITH (fillfactor=70);

CREATE TABLE limits (
  operator_id text NOT NULL,
  currency text NOT NULL,
  max_grant_minor bigint,
  max_batch_minor bigint,
  max_adjustment_minor bigint,
  daily_minor bigint,
  max_win_minor bigint,
  updated_at timestamp with time zone NOT NULL,
  updated_by text,
  tenant_id text GENERATED ALWAYS AS (NULLIF(operator_id, '*'::text)) STORED,
  CONSTRAINT limits_pkey PRIMARY KEY (operator_id, currency),
  CONSTRAINT limits_check CHECK ((num_nonnulls(max_grant_minor, max_batch_minor, max_adjustment_minor, daily_minor, max_win_minor) > 0)),
  CONSTRAINT limits_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
  CONSTRAINT limits_daily_minor_check CHECK (((daily_minor >= 0) AND (daily_minor <= '9007199254740991'::bigint))),
  CONSTRAINT limits_max_adjustment_minor_check CHECK (((max_adjustment_minor >= 0) AND (max_adjustment_minor <= '9007199254740991'::bigint))),
  CONSTRAINT limits_max_batch_minor_check CHECK (((max_batch_minor >= 0) AND (max_batch_minor <= '9007199254740991'::bigint))),
  CONSTRAINT limits_max_grant_minor_check CHECK (((max_grant_minor >= 0) AND (max_grant_minor <= '9007199254740991'::bigint))),
  CONSTRAINT limits_max_win_minor_check CHECK (((max_win_minor >= 0) AND (max_win_minor <= '9007199254740991'::bigint))),
  CONSTRAINT limits_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id)
);
CREATE TRIGGER limits_changed AFTER INSERT OR DELETE OR UPDATE ON limits FOR EACH STATEMENT EXECUTE FUNCTION tenancy_changed();

CREATE TABLE migrations (
  id integer DEFAULT nextval('migrations_id_seq'::regclass) NOT NULL,
  timestamp bigint NOT NULL,
  name character varying NOT NULL,
  CONSTRAINT PK_8c82d7f526340ab734260ea46be PRIMARY KEY (id)
);

CREATE TABLE nonces (
  tenant_id text NOT NULL,
  nonce text NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  CONSTRAINT nonces_pkey PRIMARY KEY (tenant_id, nonce)
);
CREATE INDEX nonces_expires_at ON nonces USING btree (expires_at);

CREATE TABLE operator_answers (
  provider_id text NOT NULL,
  transaction_id text NOT NULL,
  attempt integer NOT NULL,
  body text NOT NULL,
  created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
  CONSTRAINT operator_answers_pkey PRIMARY KEY (provider_id, transaction_id, attempt, created_at),
  CONSTRAINT operator_answers_attempt_check CHECK ((attempt > 0)),
  CONSTRAINT operator_answers_body_check CHECK ((length(body) <= 4096))
) PARTITION BY RANGE (created_at);

CREATE TABLE pauses (
  kind text NOT NULL,
  id text NOT NULL,
  reason text NOT NULL,
  until timestamp with time zone,
  paused_at timestamp with time zone NOT NULL,
  paused_by text NOT NULL,
  paused_by_name text,
  CONSTRAINT pauses_pkey PRIMARY KEY (kind, id),
  CONSTRAINT pauses_kind_check CHECK ((kind = ANY (ARRAY['OPERATOR'::text, 'PROVIDER'::text, 'GAME'::text]))),
  CONSTRAINT pauses_reason_check CHECK ((reason <> ''::text))
);
CREATE TRIGGER pauses_changed AFTER INSERT OR DELETE OR UPDATE ON pauses FOR EACH STATEMENT EXECUTE FUNCTION tenancy_changed();

CREATE TABLE reconciliation_findings (
  reconciliation_id uuid NOT NULL,
  position integer NOT NULL,
  finding jsonb NOT NULL,
  CONSTRAINT reconciliation_findings_pkey PRIMARY KEY (reconciliation_id, "position"),
  CONSTRAINT reconciliation_findings_position_check CHECK (("position" > 0)),
  CONSTRAINT reconciliation_findings_reconciliation_id_fkey FOREIGN KEY (reconciliation_id) REFERENCES reconciliations(reconciliation_id) ON DELETE CASCADE
);

CREATE TABLE reconciliations (
  reconciliation_id uuid NOT NULL,
  operator_id text NOT NULL,
  range_from timestamp with time zone NOT NULL,
  range_to timestamp with time zone NOT NULL,
  lines integer NOT NULL,
  matched integer NOT NULL,
  findings jsonb NOT NULL,
  findings_stored integer NOT NULL,
  sums jsonb NOT NULL,
  recorded jsonb,
  created_at timestamp with time zone NOT NULL,
  created_by text NOT NULL,
  created_by_name text,
  CONSTRAINT reconciliations_pkey PRIMARY KEY (reconciliation_id),
  CONSTRAINT reconciliations_check CHECK (((matched >= 0) AND (matched <= lines))),
  CONSTRAINT reconciliations_check1 CHECK ((range_from < range_to)),
  CONSTRAINT reconciliations_findings_stored_check CHECK ((findings_stored >= 0)),
  CONSTRAINT reconciliations_lines_check CHECK ((lines >= 0)),
  CONSTRAINT reconciliations_operator_id_fkey FOREIGN KEY (operator_id) REFERENCES tenants(id)
);
CREATE INDEX reconciliations_by_time ON reconciliations USING btree (created_at, reconciliation_id);
CREATE INDEX reconciliations_of_operator ON reconciliations USING btree (operator_id, created_at, reconciliation_id);

CREATE TABLE rounds (
  provider_id text NOT NULL,
  operator_id text NOT NULL,
  player_ref text NOT NULL,
  game_id text NOT NULL,
  round_id text NOT NULL,
  mode text NOT NULL,
  version bigint NOT NULL,
  CONSTRAINT rounds_pkey PRIMARY KEY (provider_id, round_id, player_ref, game_id, operator_id, mode)
);
CREATE CONSTRAINT TRIGGER rounds_flaggable AFTER UPDATE ON rounds DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN ((new.mode = 'REAL'::text)) EXECUTE FUNCTION mark_wins_of_round();

CREATE TABLE session_revocations (
  session_id uuid NOT NULL,
  revocation_ref uuid DEFAULT gen_random_uuid() NOT NULL,
  sent boolean DEFAULT false NOT NULL,
  lease_until timestamp with time zone,
  delivered boolean,
  status integer,
  error text,
  created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
  failed_at timestamp with time zone,
  provider_id text,
  CONSTRAINT session_revocations_pkey PRIMARY KEY (session_id),
  CONSTRAINT session_revocations_check CHECK (((delivered IS NULL) = (lease_until IS NOT NULL))),
  CONSTRAINT session_revocations_check1 CHECK (((delivered IS NULL) OR (sent AND (delivered = (error IS NULL))))),
  CONSTRAINT session_revocations_revocation_ref_key UNIQUE (revocation_ref),
  CONSTRAINT session_revocations_session_id_fkey FOREIGN KEY (session_id) REFERENCES sessions(session_id)
);
CREATE INDEX session_revocations_failed ON session_revocations USING btree (COALESCE(lease_until, failed_at, created_at), session_id) WHERE (sent AND (delivered IS NOT TRUE));
CREATE INDEX session_revocations_unsent ON session_revocations USING btree (lease_until) WHERE (NOT sent);
CREATE INDEX session_revocations_unsent_in_turn ON session_revocations USING btree (provider_id, lease_until) WHERE (NOT sent);
CREATE TRIGGER session_revocations_provider BEFORE INSERT OR UPDATE ON session_revocations FOR EACH ROW WHEN (((NOT new.sent) AND (new.provider_id IS NULL))) EXECUTE FUNCTION set_provider_of_revocation();

CREATE TABLE sessions (
  session_id uuid NOT NULL,
  token_hash bytea NOT NULL,
  operator_id text NOT NULL,
  provider_id text NOT NULL,
  player_ref text NOT NULL,
  game_id text NOT NULL,
  currency text NOT NULL,
  mode text NOT NULL,
  language text,
  country text,
  created_at timestamp with time zone NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  revoked_at timestamp with time zone,
  revoke_reason text,
  max_bet_minor bigint,
  jurisdiction text,
  reality_check_seconds integer,
  CONSTRAINT sessions_pkey PRIMARY KEY (session_id),
  CONSTRAINT sessions_check CHECK (((revoked_at IS NULL) = (revoke_reason IS NULL))),
  CONSTRAINT sessions_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
  CONSTRAINT sessions_game_id_fkey FOREIGN KEY (game_id) REFERENCES games(game_id),
  CONSTRAINT sessions_limits CHECK ((((max_bet_minor >= 1) AND (max_bet_minor <= '9007199254740991'::bigint)) AND ((length(jurisdiction) >= 1) AND (length(jurisdiction) <= 32)) AND ((reality_check_seconds >= 60) AND (reality_check_seconds <= 86400)))),
  CONSTRAINT sessions_mode_check CHECK ((mode = ANY (ARRAY['REAL'::text, 'DEMO'::text]))),
  CONSTRAINT sessions_operator_id_fkey FOREIGN KEY (operator_id) REFERENCES tenants(id),
  CONSTRAINT sessions_provider_id_fkey FOREIGN KEY (provider_id) REFERENCES tenants(id),
  CONSTRAINT sessions_revoke_reason_check CHECK ((revoke_reason = ANY (ARRAY['KICK'::text, 'SELF_EXCLUSION'::text, 'FRAUD_HOLD'::text, 'OTHER'::text]))),
  CONSTRAINT sessions_token_hash_check CHECK ((octet_length(token_hash) = 32)),
  CONSTRAINT sessions_token_hash_key UNIQUE (token_hash)
);
CREATE INDEX sessions_at_operator_of_player ON sessions USING btree (operator_id, player_ref, created_at, session_id);
CREATE INDEX sessions_by_time ON sessions USING btree (created_at, session_id);
CREATE INDEX sessions_live_of_player ON sessions USING btree (operator_id, player_ref) WHERE (revoked_at IS NULL);
CREATE INDEX sessions_of_game ON sessions USING btree (game_id, created_at, session_id);
CREATE INDEX sessions_of_operator ON sessions USING btree (operator_id, created_at, session_id);
CREATE INDEX sessions_of_player ON sessions USING btree (player_ref, created_at, session_id);
CREATE INDEX sessions_of_provider ON sessions USING btree (provider_id, created_at, session_id);
CREATE INDEX sessions_revoked ON sessions USING btree (created_at, session_id) WHERE (revoked_at IS NOT NULL);

CREATE TABLE tenancy_version (
  one boolean DEFAULT true NOT NULL,
  version bigint NOT NULL,
  CONSTRAINT tenancy_version_pkey PRIMARY KEY (one),
  CONSTRAINT tenancy_version_one_check CHECK (one)
);

CREATE TABLE tenants (
  id text NOT NULL,
  kind text NOT NULL,
  name text NOT NULL,
  status text DEFAULT 'ACTIVE'::text NOT NULL,
  requests_per_second integer,
  webhook_base_url text,
  late_settlement_seconds integer,
  wallet_base_url text,
  wallet_adapter text,
  wallet_timeout_ms integer,
  sealed_secret text NOT NULL,
  previous_sealed_secret text,
  previous_valid_until timestamp with time zone,
  created_at timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  currencies text[],
  CONSTRAINT tenants_pkey PRIMARY KEY (id),
  CONSTRAINT tenants_check CHECK (((kind = 'PROVIDER'::text) = (webhook_base_url IS NOT NULL))),
  CONSTRAINT tenants_check1 CHECK (((kind = 'PROVIDER'::text) = (late_settlement_seconds IS NOT NULL))),
  CONSTRAINT tenants_check2 CHECK (((kind = 'OPERATOR'::text) = (wallet_base_url IS NOT NULL))),
  CONSTRAINT tenants_check3 CHECK (((kind = 'OPERATOR'::text) = (wallet_adapter IS NOT NULL))),
  CONSTRAINT tenants_check4 CHECK (((previous_sealed_secret IS NULL) = (previous_valid_until IS NULL))),
  CONSTRAINT tenants_currencies_check CHECK ((cardinality(currencies) > 0)),
  CONSTRAINT tenants_id_check CHECK (((id ~ '^[A-Za-z0-9._-]{1,64}$'::text) AND (id <> ALL (ARRAY['.'::text, '..'::text, 'platform'::text])))),
  CONSTRAINT tenants_kind_check CHECK ((kind = ANY (ARRAY['PROVIDER'::text, 'OPERATOR'::text]))),
  CONSTRAINT tenants_late_settlement_seconds_check CHECK ((late_settlement_seconds >= 0)),
  CONSTRAINT tenants_requests_per_second_check CHECK ((requests_per_second > 0)),
  CONSTRAINT tenants_status_check CHECK ((status = ANY (ARRAY['ACTIVE'::text, 'DISABLED'::text]))),
  CONSTRAINT tenants_wallet_timeout_ms_check CHECK ((wallet_timeout_ms > 0))
);
CREATE TRIGGER tenants_changed AFTER INSERT OR DELETE OR UPDATE ON tenants FOR EACH STATEMENT EXECUTE FUNCTION tenancy_changed();

CREATE TABLE traded_currencies (
  operator_id text NOT NULL,
  currency text NOT NULL,
  last_traded_at timestamp with time zone NOT NULL,
  CONSTRAINT traded_currencies_pkey PRIMARY KEY (operator_id, currency),
  CONSTRAINT traded_currencies_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
  CONSTRAINT traded_currencies_operator_id_fkey FOREIGN KEY (operator_id) REFERENCES tenants(id)
);

CREATE TABLE transactions (
  provider_id text NOT NULL,
  transaction_id text NOT NULL,
  platform_transaction_id uuid NOT NULL,
  kind text,
  state text NOT NULL,
  operator_id text NOT NULL,
  session_id uuid,
  mode text NOT NULL,
  player_ref text NOT NULL,
  game_id text,
  currency text NOT NULL,
  amount_minor bigint NOT NULL,
  round_id text,
  round_closed boolean,
  original_transaction_id text,
  free_spins_ref text,
  attempt integer NOT NULL,
  attempts jsonb DEFAULT '[]'::jsonb NOT NULL,
  lease_until timestamp with time zone,
  verdict text,
  decline_reason text,
  rollback_id text,
  response_body text,
  created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
  updated_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
  parked_at timestamp with time zone,
  reason text,
  reported_status text,
  reported_at timestamp with time zone,
  win_kind text,
  promotion_ref text,
  CONSTRAINT transactions_pkey PRIMARY KEY (provider_id, transaction_id),
  CONSTRAINT transactions_sound CHECK (transaction_is_sound(transactions.*)) NOT VALID
) WITH (autovacuum_vacuum_threshold=100000, autovacuum_vacuum_scale_factor=0.01, vacuum_index_cleanup=on);
CREATE INDEX transactions_adjustments ON transactions USING btree (operator_id, currency, (
CASE
    WHEN (state = 'APPROVED'::text) THEN updated_at
    ELSE 'infinity'::timestamp with time zone
END)) WHERE ((provider_id = 'platform'::text) AND (state <> 'DECLINED'::text));
CREATE INDEX transactions_by_time ON transactions USING btree (created_at, platform_transaction_id);
CREATE INDEX transactions_exceptional ON transactions USING btree (state, operator_id, provider_id, created_at, platform_transaction_id) WHERE (state = ANY (ARRAY['DECLINED'::text, 'TIMED_OUT'::text, 'ROLLED_BACK'::text]));
CREATE INDEX transactions_of_free_spins_by_time ON transactions USING btree (created_at, platform_transaction_id) WHERE (free_spins_ref IS NOT NULL);
CREATE INDEX transactions_of_free_spins_of_player ON transactions USING btree (provider_id, free_spins_ref, operator_id, player_ref) WHERE (free_spins_ref IS NOT NULL);
CREATE INDEX transactions_of_player ON transactions USING btree (player_ref, created_at, platform_transaction_id);
CREATE INDEX transactions_of_round ON transactions USING btree (round_id, player_ref, provider_id);
CREATE INDEX transactions_of_tenants ON transactions USING btree (operator_id, provider_id, created_at, platform_transaction_id);
CREATE INDEX transactions_parked ON transactions USING btree (parked_at) WHERE ((state = ANY (ARRAY['PENDING'::text, 'TIMED_OUT'::text])) AND (parked_at IS NOT NULL));
CREATE INDEX transactions_rollbacks ON transactions USING btree (provider_id, original_transaction_id) WHERE (kind = 'ROLLBACK'::text);
CREATE INDEX transactions_timed_out ON transactions USING btree (GREATEST(((created_at AT TIME ZONE 'UTC'::text) + '00:05:00'::interval), (updated_at AT TIME ZONE 'UTC'::text)), provider_id, transaction_id) WHERE 
CASE
    WHEN ((state = 'TIMED_OUT'::text) AND (parked_at IS NULL)) THEN true
    ELSE NULL::boolean
END;
CREATE INDEX transactions_undecided ON transactions USING btree (operator_id, updated_at) WHERE ((state = ANY (ARRAY['PENDING'::text, 'TIMED_OUT'::text])) AND (parked_at IS NULL));
CREATE TRIGGER transactions_flaggable AFTER INSERT ON transactions FOR EACH ROW WHEN ((new.free_spins_ref IS NOT NULL)) EXECUTE FUNCTION mark_win_of_free_spins();

CREATE TABLE wins_above_limit (
  provider_id text NOT NULL,
  transaction_id text NOT NULL,
  limit_minor bigint NOT NULL,
  created_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
  CONSTRAINT wins_above_limit_pkey PRIMARY KEY (provider_id, transaction_id)
);
CREATE TRIGGER wins_above_limit_flaggable AFTER INSERT ON wins_above_limit FOR EACH ROW EXECUTE FUNCTION mark_win_above_limit();

CREATE OR REPLACE FUNCTION adopt_default(parent text)
 RETURNS text
 LANGUAGE plpgsql
AS $function$
DECLARE
  default_name text := parent || '_default';
  name text;
  first_month date;
  last_month date;
BEGIN
  EXECUTE format('SELECT date_trunc(''month'', min(%1$s)), date_trunc(''month'', max(%1$s)) FROM %2$I',
                 CASE parent WHEN 'audit_entries' THEN 'day::timestamp' ELSE 'created_at AT TIME ZONE ''UTC''' END,
                 default_name) INTO first_month, last_month;
  IF first_month IS NULL THEN RETURN NULL; END IF;
  name := parent || to_char(first_month, '_YYYY_MM') || to_char(last_month, '_"to"_YYYY_MM');
  EXECUTE format('ALTER TABLE %I DETACH PARTITION %I', parent, default_name);
  EXECUTE format('ALTER TABLE %I RENAME TO %I', default_name, name);
  EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', parent, name,
                 month_bound(parent, first_month), month_bound(parent, (last_month + interval '1 month')::date));
  EXECUTE format('CREATE TABLE %I PARTITION OF %I DEFAULT', default_name, parent);
  PERFORM close_partition(parent, default_name);
  RETURN name;
END $function$;

CREATE OR REPLACE FUNCTION audit_chain()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
DECLARE
  last audit_entries;
  today date;
BEGIN
  PERFORM pg_advisory_xact_lock(7300003);
  SELECT * INTO last FROM audit_entries ORDER BY day DESC, position DESC LIMIT 1;
  -- If the clock was set back, the entry gets the time of the last entry.
  NEW.created_at := greatest(date_trunc('milliseconds', audit_now()), last.created_at);
  today := (NEW.created_at AT TIME ZONE 'UTC')::date;
  -- If midnight has passed since the row's partition was chosen, the row becomes the last one of the previous day.
  IF NEW.day = today - 1 AND NEW.day >= coalesce(last.day, NEW.day)
     AND NEW.created_at < (today + time '00:01') AT TIME ZONE 'UTC' THEN
    NEW.created_at := (today::timestamp AT TIME ZONE 'UTC') - interval '1 millisecond';
  ELSIF NEW.day IS DISTINCT FROM today THEN
    RAISE EXCEPTION 'an entry of the audit log is of the day on which it is written';
  END IF;
  IF last.day IS NULL THEN
    NEW.position := 1;
    NEW.previous_hash := audit_digest('croupier audit', 'beginning');
  ELSIF last.day = NEW.day THEN
    NEW.position := last.position + 1;
    NEW.previous_hash := last.hash;
  ELSE
    NEW.position := 1;
    NEW.previous_hash := audit_digest('croupier audit', 'day', last.day::text, last.position::text,
                                      encode(last.hash, 'hex'));
  END IF;
  NEW.hash := audit_entry_hash(NEW);
  RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION audit_digest(VARIADIC fields text[])
 RETURNS bytea
 LANGUAGE sql
 IMMUTABLE
AS $function$
  SELECT sha256(convert_to(string_agg(coalesce(octet_length(convert_to(field, 'UTF8')) || ':' || field, '-'), E'\n' ORDER BY place), 'UTF8'))
    FROM unnest(fields) WITH ORDINALITY AS f (field, place)
$function$;

CREATE OR REPLACE FUNCTION audit_entry_hash(e audit_entries)
 RETURNS bytea
 LANGUAGE sql
 IMMUTABLE
AS $function$
  SELECT audit_digest(VARIADIC ARRAY['croupier audit', CASE WHEN e.outcome IS NULL THEN 'entry' ELSE 'entry with outcome' END,
      encode(e.previous_hash, 'hex'), e.day::text, e.position::text, audit_moment(e.created_at), e.actor, e.role,
      e.action, e.target, e.before::text, e.after::text, e.address, e.request_id]
    || CASE WHEN e.outcome IS NULL THEN ARRAY[]::text[] ELSE ARRAY[e.actor_name, e.outcome] END)
$function$;

CREATE OR REPLACE FUNCTION audit_last_seal()
 RETURNS bigint
 LANGUAGE sql
AS $function$
  SELECT coalesce(max(number), 0) FROM audit_seals
$function$;

CREATE OR REPLACE FUNCTION audit_lock()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  PERFORM pg_advisory_xact_lock(7300003);
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION audit_moment(moment timestamp with time zone)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
AS $function$
  SELECT to_char(moment AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$function$;

CREATE OR REPLACE FUNCTION audit_next_day()
 RETURNS date
 LANGUAGE plpgsql
AS $function$
DECLARE
  last_moment timestamptz;
BEGIN
  SELECT created_at INTO last_moment FROM audit_entries ORDER BY day DESC, position DESC LIMIT 1;
  RETURN (greatest(date_trunc('milliseconds', audit_now()), last_moment) AT TIME ZONE 'UTC')::date;
END $function$;

CREATE OR REPLACE FUNCTION audit_now()
 RETURNS timestamp with time zone
 LANGUAGE sql
AS $function$SELECT clock_timestamp()$function$;

CREATE OR REPLACE FUNCTION audit_refuse()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  RAISE EXCEPTION 'the audit log is append-only';
END $function$;

CREATE OR REPLACE FUNCTION audit_seal_follows()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF NEW.number > audit_last_seal() + 1000000
     OR NOT EXISTS (SELECT FROM audit_entries e WHERE e.day = NEW.day AND e.position = NEW.position) THEN
    RAISE EXCEPTION 'a seal follows the one before it and belongs to an entry of the audit log';
  END IF;
  RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION close_partition(parent text, name text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
DECLARE
  grantee text;
BEGIN
  FOR grantee IN SELECT DISTINCT CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END
                   FROM pg_class c, aclexplode(c.relacl) a WHERE c.oid = name::regclass AND a.grantee <> c.relowner LOOP
    EXECUTE format('REVOKE ALL ON %I FROM %s', name, grantee);
  END LOOP;
  IF parent = 'audit_entries' THEN
    EXECUTE format('CREATE TRIGGER audit_entries_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON %I
                      FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse()', name);
  END IF;
END $function$;

CREATE OR REPLACE FUNCTION copy_rights(before regclass, after text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
DECLARE
  r record;
BEGIN
  EXECUTE format('ALTER TABLE %I OWNER TO %s', after, (SELECT relowner::regrole FROM pg_class WHERE oid = before));
  PERFORM close_partition('', after);
  FOR r IN SELECT a.privilege_type, CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END AS grantee
             FROM pg_class c, aclexplode(c.relacl) a WHERE c.oid = before AND a.grantee <> c.relowner LOOP
    EXECUTE format('GRANT %s ON %I TO %s', r.privilege_type, after, r.grantee);
  END LOOP;
END $function$;

CREATE OR REPLACE FUNCTION make_partition(parent text, month date)
 RETURNS text
 LANGUAGE plpgsql
AS $function$
DECLARE
  name text := parent || to_char(month, '_YYYY_MM');
BEGIN
  IF month < partitions_end(parent) THEN RETURN NULL; END IF;
  EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS INCLUDING CONSTRAINTS)', name, parent);
  EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', parent, name,
                 month_bound(parent, month), month_bound(parent, (month + interval '1 month')::date));
  PERFORM close_partition(parent, name);
  RETURN name;
END $function$;

CREATE OR REPLACE FUNCTION mark_win_above_limit()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  INSERT INTO flaggable_wins (provider_id, transaction_id, platform_transaction_id, operator_id, created_at)
  SELECT t.provider_id, t.transaction_id, t.platform_transaction_id, t.operator_id, t.created_at FROM transactions t
   WHERE t.provider_id = NEW.provider_id AND t.transaction_id = NEW.transaction_id
  ON CONFLICT DO NOTHING;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION mark_win_of_free_spins()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF NEW.kind = 'WIN' AND NEW.mode = 'REAL' AND NOT EXISTS (
    SELECT FROM (SELECT * FROM free_spin_grants
                  WHERE provider_id = NEW.provider_id AND external_ref = NEW.free_spins_ref
                    AND operator_id = NEW.operator_id AND player_ref = NEW.player_ref OFFSET 0) g
     WHERE g.currency = NEW.currency AND g.state = 'GRANTED' AND g.cancel_attempt = 0 AND g.duplicate_of IS NULL
       AND coalesce(g.granted_at, g.created_at) <= NEW.created_at) THEN
    INSERT INTO flaggable_wins (provider_id, transaction_id, platform_transaction_id, operator_id, created_at, free_spins_ref)
    VALUES (NEW.provider_id, NEW.transaction_id, NEW.platform_transaction_id, NEW.operator_id, NEW.created_at, NEW.free_spins_ref) ON CONFLICT DO NOTHING;
  END IF;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION mark_wins_of_round()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF 
  (SELECT coalesce(bool_or(t.state = 'ROLLED_BACK' OR t.rollback_id IS NOT NULL), false)
          AND NOT coalesce(bool_or(t.kind = 'BET' AND t.state = 'APPROVED' AND t.rollback_id IS NULL), false)
     FROM 
  (SELECT * FROM transactions
    WHERE round_id = NEW.round_id AND player_ref = NEW.player_ref AND provider_id = NEW.provider_id
   OFFSET 0) t
   WHERE t.game_id = NEW.game_id AND t.operator_id = NEW.operator_id AND t.mode = NEW.mode) THEN
    INSERT INTO flaggable_wins (provider_id, transaction_id, platform_transaction_id, operator_id, created_at) 
  SELECT t.provider_id, t.transaction_id, t.platform_transaction_id, t.operator_id, t.created_at FROM 
  (SELECT * FROM transactions
    WHERE round_id = NEW.round_id AND player_ref = NEW.player_ref AND provider_id = NEW.provider_id
   OFFSET 0) t
   WHERE t.game_id = NEW.game_id AND t.operator_id = NEW.operator_id AND t.mode = NEW.mode AND t.kind = 'WIN' AND t.state <> 'DECLINED' ON CONFLICT DO NOTHING;
  END IF;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION month_bound(parent text, month date)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
AS $function$
  SELECT CASE parent WHEN 'audit_entries' THEN month::text ELSE month::text || ' 00:00:00+00' END
$function$;

CREATE OR REPLACE FUNCTION partition_start()
 RETURNS date
 LANGUAGE sql
 STABLE
AS $function$
  SELECT (date_trunc('month', (clock_timestamp() + interval '1 day') AT TIME ZONE 'UTC') + interval '1 month')::date
$function$;

CREATE OR REPLACE FUNCTION partitions_end(parent text)
 RETURNS date
 LANGUAGE sql
 STABLE
AS $function$
  SELECT max(CASE parent WHEN 'audit_entries' THEN bound::date ELSE (bound::timestamptz AT TIME ZONE 'UTC')::date END)
    FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid,
         substring(pg_get_expr(c.relpartbound, c.oid) FROM 'TO \(''([^'']+)''\)') AS bound
   WHERE inhparent = parent::regclass
$function$;

CREATE OR REPLACE FUNCTION set_provider_of_revocation()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  NEW.provider_id := (SELECT provider_id FROM sessions WHERE session_id = NEW.session_id);
  RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION tenancy_changed()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  UPDATE tenancy_version SET version = version + 1;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION transaction_is_sound(t transactions)
 RETURNS boolean
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
BEGIN
  IF NOT (
    t.state IN ('PENDING', 'APPROVED', 'DECLINED', 'TIMED_OUT', 'ROLLED_BACK')
    AND (t.state = 'PENDING') = (t.lease_until IS NOT NULL)
    AND (t.state IN ('APPROVED', 'DECLINED')) <= (t.response_body IS NOT NULL)
    AND t.mode IN ('REAL', 'DEMO')
    AND t.currency ~ '^[A-Z]{3}$'
    AND abs(t.amount_minor) <= 9007199254740991
    AND t.attempt >= 0
    AND t.verdict IN ('APPROVED', 'DECLINED')
    AND t.reported_status IN ('APPROVED', 'DECLINED')
    AND (t.reported_status IS NULL) = (t.reported_at IS NULL)
  ) THEN
    RETURN false;
  END IF;
  IF t.kind = 'ADJUSTMENT' THEN
    RETURN t.provider_id = 'platform' AND t.reason IS NOT NULL AND t.mode = 'REAL' AND t.amount_minor <> 0
      AND t.session_id IS NULL AND t.game_id IS NULL AND t.round_id IS NULL AND t.state <> 'ROLLED_BACK';
  END IF;
  RETURN t.provider_id <> 'platform' AND t.reason IS NULL AND t.amount_minor >= 0
    AND t.kind IN ('BET', 'WIN', 'ROLLBACK')
    AND (t.kind <> 'ROLLBACK' OR t.original_transaction_id IS NOT NULL)
    -- A row without a kind is a tombstone.
    AND (t.kind IS NOT NULL OR t.state = 'ROLLED_BACK')
    AND (t.state <> 'ROLLED_BACK' OR t.kind IS NULL OR (t.kind = 'BET' AND t.rollback_id IS NOT NULL));
END $function$;
