/**
 * Changes that must be refused, each with its constraint. Each is tried alone, on a workspace with
 * rows in every table. `$task` is a pending task with a milestone, `$held` a running one, `$run`
 * its run, `$waiting` a task that waits for `$task`.
 */
export const ATTEMPTS: Record<string, readonly (readonly [sql: string, by: string])[]> = {
  'a key of sealed values': [
    [`INSERT INTO data_keys (id) VALUES (uuidv7())`, 'data_keys_is_wrapped'],
    [
      `INSERT INTO data_keys (id, master_key_id, retired_at)
       VALUES ('00000000-0000-0000-0000-000000000000', 'k1', now())`,
      'data_keys_is_wrapped',
    ],
    [
      `INSERT INTO task_secrets VALUES ($workspace, $task, 'input_context', '00000000-0000-0000-0000-00000000000a', '{}')`,
      'task_secrets_key_fkey',
    ],
    [`DELETE FROM data_keys`, 'task_secrets_key_fkey'],
    [`UPDATE task_secrets SET column_name = 'summary'`, 'task_secrets_column_name_check'],
    [`UPDATE task_secrets SET task_id = uuidv7()`, 'task_secrets_task_fkey'],
    [`UPDATE agent_secrets SET column_name = 'metadata'`, 'agent_secrets_column_name_check'],
    [`UPDATE agent_secrets SET agent_id = uuidv7()`, 'agent_secrets_agent_fkey'],
    [`UPDATE agent_secrets SET key_id = uuidv7()`, 'agent_secrets_key_fkey'],
    [`UPDATE webhook_secrets SET key_id = uuidv7()`, 'webhook_secrets_key_fkey'],
    [`UPDATE webhook_secrets SET webhook_id = uuidv7()`, 'webhook_secrets_webhook_fkey'],
    [`UPDATE webhook_secrets SET column_name = 'url'`, 'webhook_secrets_column_name_check'],
    [
      `UPDATE webhook_secrets SET column_name = 'previous_secret'`,
      'webhook_secrets_previous_expires',
    ],
  ],
  'a webhook': [
    [
      `INSERT INTO webhooks (workspace_id, id, url, events) VALUES (uuidv7(), uuidv7(), 'https://a.example', '{*}')`,
      'webhooks_workspace_id_fkey',
    ],
    [`UPDATE webhooks SET url = ''`, 'webhooks_url_check'],
    [`UPDATE webhooks SET events = '{}'`, 'webhooks_events_check'],
    [
      `UPDATE webhooks SET disabled_reason = 'x', disabled_at = now()`,
      'webhooks_disabled_reason_check',
    ],
    [`UPDATE webhooks SET disabled_at = now()`, 'webhooks_disabled_has_reason'],
    [
      `UPDATE webhooks SET disabled_at = now(), disabled_reason = 'gone', due_at = now()`,
      'webhooks_disabled_is_not_due',
    ],
    [`UPDATE webhooks SET lease = uuidv7()`, 'webhooks_lease_ends'],
    [`UPDATE webhooks SET failures = -1`, 'webhooks_failures_check'],
    [`UPDATE webhooks SET kind = 'fax'`, 'webhooks_kind_check'],
    [
      `UPDATE webhooks SET recipients = '{00000000-0000-0000-0000-000000000000}'`,
      'webhooks_email_has_recipients',
    ],
    [`UPDATE webhooks SET kind = 'email', notice = '{}'`, 'webhooks_email_has_recipients'],
    [`UPDATE webhooks SET kind = 'slack'`, 'webhooks_notice_has_settings'],
    [
      `UPDATE webhook_deliveries SET state = 'lost', next_attempt_at = NULL`,
      'webhook_deliveries_state_check',
    ],
    [`UPDATE webhook_deliveries SET state = 'dead'`, 'webhook_deliveries_pending_has_time'],
    [`UPDATE webhook_deliveries SET failures = 1`, 'webhook_deliveries_counts'],
    [`UPDATE webhook_deliveries SET payload = NULL`, 'webhook_deliveries_has_body'],
    [`UPDATE webhook_attempts SET number = 0`, 'webhook_attempts_number_check'],
    [`UPDATE webhook_attempts SET error = 'timeout'`, 'webhook_attempts_has_result'],
  ],
  'an inbound hook': [
    [
      `INSERT INTO inbound_hooks (workspace_id, id, kind, rules, created_by)
       SELECT uuidv7(), uuidv7(), 'github', '[]', created_by FROM inbound_hooks`,
      'inbound_hooks_workspace_id_fkey',
    ],
    [`UPDATE inbound_hooks SET kind = 'svn'`, 'inbound_hooks_kind_check'],
    [`UPDATE inbound_hooks SET rules = '{}'`, 'inbound_hooks_rules_are_a_list'],
    [`UPDATE inbound_hooks SET created_by = uuidv7()`, 'inbound_hooks_created_by_fkey'],
    [`UPDATE inbound_hook_secrets SET key_id = uuidv7()`, 'inbound_hook_secrets_key_fkey'],
    [`UPDATE inbound_hook_secrets SET hook_id = uuidv7()`, 'inbound_hook_secrets_hook_fkey'],
    [
      `UPDATE inbound_hook_secrets SET column_name = 'url'`,
      'inbound_hook_secrets_column_name_check',
    ],
    [
      `UPDATE inbound_hook_secrets SET column_name = 'previous_secret'`,
      'inbound_hook_secrets_previous_expires',
    ],
    [
      `UPDATE inbound_hook_deliveries SET delivery_id = ''`,
      'inbound_hook_deliveries_delivery_id_check',
    ],
    [`UPDATE inbound_hook_deliveries SET digest = 'short'`, 'inbound_hook_deliveries_digest_check'],
    [`UPDATE inbound_hook_deliveries SET rule = -1`, 'inbound_hook_deliveries_rule_check'],
    [
      `UPDATE inbound_hook_deliveries SET outcome = 'lost', reason = NULL`,
      'inbound_hook_deliveries_outcome_check',
    ],
    [
      `UPDATE inbound_hook_deliveries SET task_id = uuidv7()`,
      'inbound_hook_deliveries_names_its_task',
    ],
    [`UPDATE inbound_hook_deliveries SET reason = NULL`, 'inbound_hook_deliveries_has_reason'],
    [`UPDATE inbound_hook_deliveries SET once = true`, 'inbound_hook_deliveries_once_creates'],
  ],
  'a task': [
    [`UPDATE agent_tasks SET agent = '{}' WHERE id = $task`, 'agent_tasks_agent_check'],
    [
      `UPDATE agent_tasks SET acceptance_script = '' WHERE id = $task`,
      'agent_tasks_acceptance_script_check',
    ],
    [`UPDATE agent_tasks SET status = 'DONE' WHERE id = $task`, 'agent_tasks_state_is_whole'],
    [`UPDATE agent_tasks SET run_id = $run WHERE id = $task`, 'agent_tasks_state_is_whole'],
    [`UPDATE agent_tasks SET ready_at = NULL WHERE id = $task`, 'agent_tasks_state_is_whole'],
    [
      `UPDATE agent_tasks SET status = 'ASSIGNED', agent_id = $agent, assigned_at = now() WHERE id = $task`,
      'agent_tasks_state_is_whole',
    ],
    [`UPDATE agent_tasks SET run_id = NULL WHERE id = $held`, 'agent_tasks_state_is_whole'],
    [`UPDATE agent_tasks SET agent_id = NULL WHERE id = $held`, 'agent_tasks_state_is_whole'],
    [`UPDATE agent_tasks SET started_at = NULL WHERE id = $held`, 'agent_tasks_state_is_whole'],
    [
      `UPDATE agent_tasks SET status = 'ASSIGNED', assigned_at = NULL WHERE id = $held`,
      'agent_tasks_state_is_whole',
    ],
    [`UPDATE agent_tasks SET status = 'PAUSED' WHERE id = $task`, 'agent_tasks_state_is_whole'],
    [
      `UPDATE agent_tasks SET status = 'PAUSED', paused_at = now() WHERE id = $task`,
      'agent_tasks_state_is_whole',
    ],
    [
      `UPDATE agent_tasks SET status = 'PAUSED', paused_at = now(), paused_for = 'fun' WHERE id = $task`,
      'agent_tasks_state_is_whole',
    ],
    [`UPDATE agent_tasks SET status = 'COMPLETED' WHERE id = $task`, 'agent_tasks_state_is_whole'],
    [
      `UPDATE agent_tasks SET status = 'COMPLETED', completed_at = now() WHERE id = $held`,
      'agent_tasks_state_is_whole',
    ],
    [
      `UPDATE agent_tasks SET status = 'FAILED', failed_at = now() WHERE id = $task`,
      'agent_tasks_state_is_whole',
    ],
    [
      `UPDATE agent_tasks SET status = 'FAILED', failure_reason = 'x' WHERE id = $task`,
      'agent_tasks_state_is_whole',
    ],
    [
      `UPDATE agent_tasks SET status = 'ABORTED', aborted_at = now() WHERE id = $task`,
      'agent_tasks_state_is_whole',
    ],
    [
      `UPDATE agent_tasks SET status = 'ABORTED', abort_reason = 'x' WHERE id = $task`,
      'agent_tasks_state_is_whole',
    ],
    [`UPDATE agent_tasks SET status = 'ARCHIVED' WHERE id = $task`, 'agent_tasks_state_is_whole'],
    [`UPDATE agent_tasks SET retry_at = now() WHERE id = $task`, 'agent_tasks_retry_waits_aborted'],
    [
      `UPDATE agent_tasks SET project_id = NULL WHERE id = $task`,
      'agent_tasks_milestone_has_project',
    ],
    [`UPDATE agent_tasks SET progress_percent = 101 WHERE id = $held`, 'percentage_check'],
    [`UPDATE agent_tasks SET progress_percent = -1 WHERE id = $held`, 'percentage_check'],
    [`UPDATE agent_tasks SET priority = 0 WHERE id = $task`, 'task_priority_check'],
    [`UPDATE agent_tasks SET priority = 11 WHERE id = $task`, 'task_priority_check'],
    [`UPDATE agent_tasks SET title = '' WHERE id = $task`, 'task_title_check'],
    [`UPDATE agent_tasks SET task_type = '' WHERE id = $task`, 'task_kind_check'],
    [`UPDATE agent_tasks SET max_retries = -1 WHERE id = $task`, 'natural_number_check'],
    [`UPDATE agent_tasks SET unmet_dependencies = -1 WHERE id = $task`, 'natural_number_check'],
    [`UPDATE agent_tasks SET timeout_seconds = 0 WHERE id = $task`, 'positive_number_check'],
    [`INSERT INTO agent_task_tags VALUES ($workspace, $task, '')`, 'agent_task_tags_tag_check'],
  ],
  'a budget': [
    [`UPDATE usage_budgets SET allocated = -1`, 'token_count_check'],
    [`UPDATE usage_budgets SET reserved = -1`, 'token_count_check'],
    [`UPDATE usage_budgets SET consumed = -1`, 'token_count_check'],
    [`UPDATE usage_budgets SET policy = 'hope'`, 'usage_budgets_policy_check'],
    [`UPDATE usage_budgets SET period_end = period_start`, 'usage_budgets_period_is_time'],
    [`UPDATE usage_budgets SET time_zone = 'UTC'`, 'usage_budgets_recur_wholly'],
    [
      `UPDATE usage_budgets SET every = 'year', time_zone = 'UTC', first_start = now(), renewed_allocation = 1`,
      'usage_budgets_recur_wholly',
    ],
    [
      `UPDATE usage_budgets SET task_id = $task, project_id = (SELECT project_id FROM agent_tasks WHERE id = $task)`,
      'usage_budgets_has_one_scope',
    ],
    [`UPDATE usage_budgets SET task_id = uuidv7()`, 'usage_budgets_task_fkey'],
    [`UPDATE usage_budgets SET project_id = uuidv7()`, 'usage_budgets_project_fkey'],
    [`UPDATE usage_budgets SET milestone_id = uuidv7()`, 'usage_budgets_milestone_fkey'],
    [
      `INSERT INTO usage_budgets (workspace_id, id, allocated, period_start, period_end)
       SELECT workspace_id, uuidv7(), 1, period_end - interval '1 s', period_end + interval '1 h' FROM usage_budgets`,
      'usage_budgets_period_is_free',
    ],
    [`UPDATE estimate_calibrations SET factor = 11`, 'estimate_calibrations_factor_check'],
    [`UPDATE estimate_calibrations SET median_used = 0`, 'estimate_calibrations_median_used_check'],
    [`UPDATE estimate_calibrations SET samples = 0`, 'estimate_calibrations_samples_check'],
    [
      `UPDATE estimate_calibrations SET project_id = uuidv7()`,
      'estimate_calibrations_project_fkey',
    ],
    [`UPDATE workspace_throttles SET max_runs = 0`, 'workspace_throttles_max_runs_check'],
    [`UPDATE workspace_throttles SET reason = 'a guess'`, 'workspace_throttles_reason_check'],
    [`UPDATE workspace_throttles SET budget_id = uuidv7()`, 'workspace_throttles_budget_fkey'],
    [`UPDATE workspace_throttles SET project_id = uuidv7()`, 'workspace_throttles_project_fkey'],
    [`UPDATE provider_limits SET provider = ''`, 'provider_limits_provider_check'],
    [`UPDATE provider_limits SET model = ''`, 'provider_limits_model_check'],
    [`UPDATE provider_limits SET kind = 'moody'`, 'provider_limits_kind_check'],
    [`UPDATE provider_limits SET over_at = until - interval '1 s'`, 'provider_limits_times_follow'],
    [
      `INSERT INTO provider_limits SELECT workspace_id, uuidv7(), provider, NULL, covers, kind, since, until, over_at, run_id, agent_id
       FROM provider_limits, generate_series(1, 2)`,
      'provider_limits_is_one',
    ],
    [`UPDATE agent_usage_logs SET input_tokens = -1`, 'token_count_check'],
    [`UPDATE agent_usage_logs SET reasoning_tokens = -1`, 'agent_usage_logs_request_check'],
    [`UPDATE agent_usage_logs SET cost_usd = -1`, 'usd_cost_check'],
    [`UPDATE agent_usage_logs SET cost_usd = 'NaN'`, 'usd_cost_check'],
    [`UPDATE agent_usage_logs SET id = ''`, 'agent_usage_logs_id_check'],
    [`UPDATE agent_usage_logs SET model = ''`, 'agent_usage_logs_model_check'],
    [`UPDATE usage_rollups SET dimension = 'person'`, 'usage_rollups_dimension_check'],
    [`UPDATE usage_rollups SET key = ''`, 'usage_rollups_key_check'],
    [`UPDATE usage_rollups SET grain = 'week'`, 'usage_rollups_grain_check'],
    [
      `UPDATE usage_rollups SET grain = 'month', day = date_trunc('month', day) + interval '1 day'`,
      'usage_rollups_month_begins',
    ],
    [`INSERT INTO usage_rollup_progress VALUES (2, 0)`, 'usage_rollup_progress_id_check'],
    [`UPDATE usage_budgets SET alerted_percent = 60`, 'usage_budgets_alerted_percent_check'],
    [`UPDATE task_runs SET held_tokens = -1`, 'task_runs_usage_is_positive'],
    [`UPDATE task_runs SET request_holds = '[]'`, 'task_runs_request_holds_check'],
    [`UPDATE task_runs SET wanted_tokens = 0`, 'task_runs_wanted_is_positive'],
    [`UPDATE model_prices SET input_usd = -1`, 'usd_price_check'],
    [`UPDATE model_prices SET cache_write_usd = 'NaN'`, 'usd_price_check'],
    [`UPDATE model_prices SET tier = 'a tier'`, 'model_prices_tier_check'],
    [`UPDATE model_prices SET model = ''`, 'model_prices_model_check'],
    [`UPDATE model_routing SET rules = '{}'`, 'model_routing_rules_check'],
    [`UPDATE model_routing SET tiers = '[]'`, 'model_routing_tiers_check'],
    [`UPDATE model_routing SET fallbacks = '{}'`, 'model_routing_fallbacks_check'],
    [`UPDATE agent_tasks SET estimated_tokens = -1`, 'agent_tasks_estimate_is_positive'],
    [`UPDATE agent_tasks SET estimated_complexity = 0`, 'agent_tasks_complexity_is_known'],
    [`UPDATE agent_tasks SET estimate_source = 'a guess'`, 'agent_tasks_estimate_has_source'],
  ],
  'a dependency': [
    [
      `INSERT INTO task_dependencies (workspace_id, task_id, depends_on_id) VALUES ($workspace, $task, $task)`,
      'task_dependencies_not_itself',
    ],
    [
      `INSERT INTO task_dependencies (workspace_id, task_id, depends_on_id) VALUES ($workspace, $waiting, $task)`,
      'task_dependencies_pkey',
    ],
    [`UPDATE task_dependencies SET policy = 'wait'`, 'task_dependencies_policy_check'],
  ],
  'a heartbeat': [
    [`UPDATE agent_heartbeat_history SET status = 'stale'`, 'agent_heartbeat_history_status_check'],
  ],
  'a run': [
    [`UPDATE task_runs SET state = 'RUNNING'`, 'task_runs_state_is_whole'],
    [`UPDATE task_runs SET started_at = NULL`, 'task_runs_state_is_whole'],
    [`UPDATE task_runs SET ended_at = now()`, 'task_runs_state_is_whole'],
    [`UPDATE task_runs SET state = 'STALE'`, 'task_runs_state_is_whole'],
    [`UPDATE task_runs SET state = 'COMPLETED', ended_at = now()`, 'task_runs_state_is_whole'],
    [`UPDATE task_runs SET state = 'FAILED', end_reason = 'x'`, 'task_runs_state_is_whole'],
    [`UPDATE task_runs SET state = 'RELEASED'`, 'task_runs_state_is_whole'],
    [`UPDATE task_runs SET generation = 0`, 'positive_number_check'],
    [`UPDATE task_runs SET renewals = -1`, 'natural_number_check'],
  ],
  'a log row': [
    [
      `INSERT INTO journal (workspace_id, event, task_id, version, previous_status, actor_kind) VALUES ($workspace, 'task.status_changed', $task, 2, 'PENDING', 'user')`,
      'journal_transition_is_whole',
    ],
    [
      `INSERT INTO journal (workspace_id, event, task_id, new_status, actor_kind) VALUES ($workspace, 'task.status_changed', $task, 'FAILED', 'user')`,
      'journal_transition_is_whole',
    ],
    [
      `INSERT INTO journal (workspace_id, event, task_id, actor_kind) VALUES ($workspace, 'task.progress', $task, 'cat')`,
      'actor_kind_check',
    ],
    [
      `INSERT INTO journal (workspace_id, event, task_id, actor_kind, level) VALUES ($workspace, 'task.progress', $task, 'user', 'LOUD')`,
      'log_level_check',
    ],
    [
      `INSERT INTO journal (workspace_id, event, actor_kind) VALUES ($workspace, 'cat.changed', 'user')`,
      'journal_event_check',
    ],
    [
      `INSERT INTO task_log_lines (workspace_id, task_id, event, actor_kind) VALUES ($workspace, $task, 'x', 'cat')`,
      'actor_kind_check',
    ],
    [
      `INSERT INTO task_log_lines (workspace_id, task_id, event, actor_kind, level) VALUES ($workspace, $task, 'x', 'user', 'LOUD')`,
      'log_level_check',
    ],
  ],
  'a question': [
    [`UPDATE questions SET task_id = uuidv7()`, 'questions_task_fkey'],
    [`UPDATE questions SET prompt = ''`, 'questions_prompt_check'],
    [`UPDATE questions SET choices = array_fill('x'::text, ARRAY[21])`, 'questions_choices_check'],
    [`UPDATE questions SET free_text = false`, 'questions_have_answers'],
    [
      `UPDATE questions SET on_deadline = 'ask', default_answer = 'x'`,
      'questions_on_deadline_check',
    ],
    [`UPDATE questions SET on_deadline = 'default'`, 'questions_default_is_there'],
    [`UPDATE questions SET default_answer = ''`, 'questions_default_answer_check'],
    [`UPDATE questions SET status = 'lost', closed_at = now()`, 'questions_status_check'],
    [`UPDATE questions SET status = 'cancelled'`, 'questions_open_until_closed'],
    [`UPDATE questions SET closed_at = now()`, 'questions_open_until_closed'],
    [
      `UPDATE questions SET status = 'answered', answer = 'yes', closed_at = now()`,
      'questions_answered_by_somebody',
    ],
    [
      `UPDATE questions SET status = 'answered', answered_by = 'user:1', closed_at = now()`,
      'questions_answer_is_there',
    ],
    [
      `INSERT INTO questions (workspace_id, id, task_id, run_id, agent_id, prompt, free_text, deadline_at, on_deadline, status, closed_at)
       SELECT workspace_id, uuidv7(), task_id, run_id, agent_id, prompt, free_text, deadline_at, 'fail', 'cancelled', now() FROM questions`,
      'questions_run_key',
    ],
    [
      `INSERT INTO questions (workspace_id, id, task_id, run_id, agent_id, prompt, free_text, deadline_at, on_deadline)
       SELECT workspace_id, uuidv7(), task_id, uuidv7(), agent_id, prompt, free_text, deadline_at, 'fail' FROM questions`,
      'questions_open_key',
    ],
    [`UPDATE questions SET run_waits = true`, 'questions_of_waiting_runs_have_defaults'],
  ],
  'a message to a run': [
    [`UPDATE run_messages SET run_id = uuidv7()`, 'run_messages_run_fkey'],
    [`UPDATE run_messages SET sequence = 0`, 'run_messages_sequence_check'],
    [`UPDATE run_messages SET type = 'A'`, 'run_messages_type_check'],
    [`UPDATE run_messages SET text = ''`, 'run_messages_text_check'],
    [`UPDATE run_messages SET data = '[]'`, 'run_messages_data_check'],
    [`UPDATE run_messages SET deliver = 'later'`, 'run_messages_deliver_check'],
    [`UPDATE run_messages SET state = 'lost', closed_at = now()`, 'run_messages_state_check'],
    [`UPDATE run_messages SET state = 'delivered'`, 'run_messages_wait_until_closed'],
    [
      `INSERT INTO run_messages (workspace_id, id, run_id, sequence, type, text, deliver, sender)
       SELECT workspace_id, uuidv7(), run_id, sequence, type, text, deliver, sender FROM run_messages`,
      'run_messages_sequence_key',
    ],
  ],
  'an agent': [
    [`UPDATE agents SET lifecycle = 'IDLE'`, 'agents_lifecycle_is_whole'],
    [`UPDATE agents SET lifecycle = 'DRAINING'`, 'agents_lifecycle_is_whole'],
    [`UPDATE agents SET lifecycle = 'ERROR'`, 'agents_lifecycle_is_whole'],
    [`UPDATE agents SET terminated_at = now()`, 'agents_lifecycle_is_whole'],
    [`UPDATE agents SET lifecycle = 'TERMINATED', live_runs = 0`, 'agents_lifecycle_is_whole'],
    [
      `UPDATE agents SET lifecycle = 'TERMINATED', terminated_at = now()`,
      'agents_lifecycle_is_whole',
    ],
    [`UPDATE agents SET live_runs = -1`, 'natural_number_check'],
    [`UPDATE agents SET max_concurrent_tasks = 0`, 'positive_number_check'],
    [`UPDATE agents SET stale_threshold_seconds = 30`, 'agents_threshold_exceeds_interval'],
    [`UPDATE agents SET mode = 'shove'`, 'agent_mode_check'],
    [`UPDATE agents SET name = ''`, 'short_name_check'],
    [`UPDATE agents SET name = repeat('x', 201)`, 'short_name_check'],
    [`UPDATE agent_heartbeats SET status = 'fine'`, 'agent_heartbeats_status_check'],
    [`UPDATE agent_heartbeat_history SET status = 'stale'`, 'agent_heartbeat_history_status_check'],
  ],
  'an entry of the audit log': [
    [`UPDATE audit_log SET actor_kind = 'agent'`, 'audit_log_actor_kind_check'],
    [`UPDATE audit_log SET status = 404`, 'audit_log_status_is_kept'],
    [`UPDATE installation_audit_log SET status = 404`, 'installation_audit_log_status_is_kept'],
    [`UPDATE installation_audit_log SET attempts = 0`, 'installation_audit_log_attempts_check'],
  ],
  'an event': [
    [`INSERT INTO event_consumers (name) VALUES ('')`, 'event_consumers_name_check'],
    [`UPDATE gateways SET id = ''`, 'gateways_id_check'],
    [`UPDATE gateways SET last_sequence = -1`, 'gateways_last_sequence_check'],
    [`UPDATE spawn_allowances SET tokens = -1`, 'spawn_allowances_tokens_check'],
    [
      `UPDATE installation_spawn_allowance SET tokens = -1`,
      'installation_spawn_allowance_tokens_check',
    ],
    [
      `INSERT INTO installation_spawn_allowance VALUES (2, 1)`,
      'installation_spawn_allowance_id_check',
    ],
    [`UPDATE pauses SET reason = ''`, 'pauses_reason_check'],
    [`UPDATE pauses SET until = created_at`, 'pauses_end_later'],
    [`UPDATE pauses SET ended_by_key = uuidv7()`, 'pauses_ended_by_keys_user'],
    [`UPDATE installation_pauses SET reason = ''`, 'installation_pauses_reason_check'],
    [`UPDATE installation_pauses SET until = created_at`, 'installation_pauses_end_later'],
    [
      `UPDATE agents SET command = array_fill('x'::text, ARRAY[101]) WHERE id = $agent`,
      'agents_command_is_short',
    ],
    [`UPDATE session_spawns SET state = 'LOST' WHERE run_id = $run`, 'session_spawns_state_check'],
    [
      `UPDATE session_spawns SET gateway_sequence = -1 WHERE run_id = $run`,
      'session_spawns_gateway_sequence_check',
    ],
    [
      `UPDATE session_spawns SET state = 'SPAWNED', settled_at = now() WHERE run_id = $run`,
      'session_spawns_state_is_whole',
    ],
    [
      `UPDATE session_spawns SET settled_at = now() WHERE run_id = $run`,
      'session_spawns_state_is_whole',
    ],
    [
      `UPDATE session_spawns SET state = 'FAILED' WHERE run_id = $run`,
      'session_spawns_state_is_whole',
    ],
    [`INSERT INTO coordinator_leadership (id) VALUES (2)`, 'coordinator_leadership_id_check'],
  ],
  'whoever may do something': [
    [`UPDATE users SET email = 'Upper@example.test'`, 'users_email_check'],
    [`UPDATE users SET email = 'x'`, 'users_email_check'],
    [`UPDATE workspaces SET slug = 'Not A Slug'`, 'workspaces_slug_check'],
    [`UPDATE workspace_members SET role = 'KING'`, 'workspace_members_role_check'],
    [`UPDATE workspace_invitations SET role = 'KING'`, 'workspace_invitations_role_check'],
    [
      `UPDATE workspace_invitations SET email = 'Up@example.test'`,
      'workspace_invitations_email_check',
    ],
    [`UPDATE workspace_invitations SET email = NULL`, 'workspace_invitations_have_an_addressee'],
    [`UPDATE workspace_invitations SET token_hash = 'x'`, 'workspace_invitations_token_hash_check'],
    [
      `UPDATE workspace_invitations SET email_status = 'lost'`,
      'workspace_invitations_email_status_check',
    ],
    [
      `UPDATE workspace_invitations SET email_status = 'failed'`,
      'workspace_invitations_email_problem_check',
    ],
    [
      `INSERT INTO user_factors (user_id, sealed, confirmed_at) SELECT id, 'x', now() FROM users`,
      'user_factors_confirmed_by_a_code',
    ],
    [
      `INSERT INTO user_factors (user_id, sealed) SELECT id, '' FROM users`,
      'user_factors_sealed_check',
    ],
    [
      `INSERT INTO user_recovery_codes (user_id, hash) SELECT id, 'x' FROM users`,
      'user_recovery_codes_hash_check',
    ],
    [`UPDATE api_keys SET role = 'OWNER'`, 'api_keys_role_check'],
    [`UPDATE api_keys SET scopes = '{}'`, 'api_keys_scopes_check'],
    [
      `INSERT INTO token_revocations (kind, subject, expires_at) VALUES ('cat', 'x', now())`,
      'token_revocations_kind_check',
    ],
  ],
};
