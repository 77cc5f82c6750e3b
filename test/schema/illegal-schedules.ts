/** The part of ATTEMPTS about schedules and templates of tasks. */
export const SCHEDULE_ATTEMPTS: Record<string, readonly (readonly [sql: string, by: string])[]> = {
  'a template of tasks': [
    [`UPDATE task_templates SET name = ''`, 'task_templates_name_check'],
    [`UPDATE task_templates SET task = '[]'`, 'task_templates_task_is_an_object'],
    [`UPDATE task_templates SET created_by = uuidv7()`, 'task_templates_created_by_fkey'],
    [
      `INSERT INTO task_templates (workspace_id, id, name, task, created_by)
       SELECT uuidv7(), id, name, task, created_by FROM task_templates`,
      'task_templates_workspace_id_fkey',
    ],
    [
      `INSERT INTO task_templates (workspace_id, id, name, task, created_by)
       SELECT workspace_id, uuidv7(), name, task, created_by FROM task_templates`,
      'task_templates_name_key',
    ],
    [
      `UPDATE task_template_secrets SET column_name = 'name'`,
      'task_template_secrets_column_name_check',
    ],
    [
      `UPDATE task_template_secrets SET template_id = uuidv7()`,
      'task_template_secrets_template_fkey',
    ],
    [`UPDATE task_template_secrets SET key_id = uuidv7()`, 'task_template_secrets_key_fkey'],
  ],
  'a schedule': [
    [`UPDATE schedules SET cron = '* * * * *'`, 'schedules_have_one_rule'],
    [`UPDATE schedules SET every_seconds = 0`, 'schedules_every_seconds_check'],
    [`UPDATE schedules SET name = ''`, 'schedules_name_check'],
    [`UPDATE schedules SET tasks = '{}'`, 'schedules_tasks_are_a_list'],
    [`UPDATE schedules SET overlap = 'hope'`, 'schedules_overlap_check'],
    [`UPDATE schedules SET missed = 'hope'`, 'schedules_missed_check'],
    [`UPDATE schedules SET missed_limit = 0`, 'schedules_missed_limit_check'],
    [`UPDATE schedules SET jitter_seconds = -1`, 'schedules_jitter_seconds_check'],
    [`UPDATE schedules SET due_at = now()`, 'schedules_start_when_due'],
    [
      `UPDATE schedules SET due_at = now(), start_at = now(), paused_at = now()`,
      'schedules_start_when_due',
    ],
    [`UPDATE schedules SET pause_reason = 'why'`, 'schedules_pause_has_time'],
    [`UPDATE schedules SET created_by = uuidv7()`, 'schedules_created_by_fkey'],
    [
      `INSERT INTO schedules (workspace_id, id, name, every_seconds, anchored_at, tasks, overlap, missed, missed_limit,
         jitter_seconds, created_by)
       SELECT uuidv7(), id, name, 60, now(), '[]', overlap, missed, 1, 0, created_by FROM schedules`,
      'schedules_workspace_id_fkey',
    ],
    [
      `INSERT INTO schedules (workspace_id, id, name, every_seconds, anchored_at, tasks, overlap, missed, missed_limit,
         jitter_seconds, created_by)
       SELECT workspace_id, uuidv7(), name, 60, now(), '[]', overlap, missed, 1, 0, created_by FROM schedules`,
      'schedules_name_key',
    ],
    [`UPDATE schedule_occurrences SET outcome = 'lost'`, 'schedule_occurrences_outcome_check'],
    [`UPDATE schedule_occurrences SET outcome = 'started'`, 'schedule_occurrences_start_a_task'],
    [
      `UPDATE schedule_occurrences SET schedule_id = uuidv7()`,
      'schedule_occurrences_schedule_fkey',
    ],
    [`UPDATE schedule_secrets SET column_name = 'name'`, 'schedule_secrets_column_name_check'],
    [`UPDATE schedule_secrets SET schedule_id = uuidv7()`, 'schedule_secrets_schedule_fkey'],
    [`UPDATE schedule_secrets SET key_id = uuidv7()`, 'schedule_secrets_key_fkey'],
    [`UPDATE agent_tasks SET schedule_id = uuidv7()`, 'agent_tasks_is_sound'],
    [`UPDATE agent_tasks SET scheduled_for = now()`, 'agent_tasks_is_sound'],
  ],
  'a replay': [
    [`UPDATE agent_tasks SET replays_id = uuidv7()`, 'agent_tasks_replays_fkey'],
    [`UPDATE agent_tasks SET replayed_by_id = uuidv7()`, 'agent_tasks_replayed_by_fkey'],
  ],
  'a start or a slot': [
    [
      `UPDATE agent_tasks SET waits_for_start = true, unmet_dependencies = 9`,
      'agent_tasks_is_sound',
    ],
    [
      `UPDATE agent_tasks SET waits_for_slot = true, unmet_dependencies = 9`,
      'agent_tasks_is_sound',
    ],
    [`UPDATE agent_tasks SET concurrency_key = 'a'`, 'agent_tasks_is_sound'],
    [`UPDATE agent_tasks SET concurrency_limit = 1`, 'agent_tasks_is_sound'],
    [`UPDATE agent_tasks SET concurrency_key = 'a', concurrency_limit = 0`, 'agent_tasks_is_sound'],
    [
      `UPDATE agent_tasks SET waits_for_start = true, start_at = now(), unmet_dependencies = 0`,
      'agent_tasks_is_sound',
    ],
  ],
};
