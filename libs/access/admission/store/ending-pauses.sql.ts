/** SQL: the pause `p` applies, and ends the live runs of its tasks. */
const endsRuns = (p: string) =>
  `${p}.ends_runs AND ${p}.ended_at IS NULL AND (${p}.until IS NULL OR ${p}.until > now())`;

/** SQL: the workspaces with a pause that ends runs. Few pauses apply, and are read whole. */
const WORKSPACES = `(SELECT p.workspace_id FROM pauses p WHERE ${endsRuns('p')}
    UNION
    SELECT w.id FROM workspaces w
    WHERE EXISTS (SELECT FROM installation_pauses p WHERE ${endsRuns('p')}))`;

/** SQL: a pause ends the run of the task `t`. */
export const isEndedByPause = (t: string) => `(${t}.workspace_id IN ${WORKSPACES}
    AND (EXISTS (SELECT FROM installation_pauses p WHERE ${endsRuns('p')})
      OR EXISTS (SELECT FROM pauses p WHERE p.workspace_id = ${t}.workspace_id AND ${endsRuns('p')}
        AND (p.task_type IS NULL OR p.task_type = ${t}.task_type))))`;

/** SQL: there is a pause that ends runs. */
export const ANY_PAUSE_ENDS_RUNS = `(EXISTS (SELECT FROM pauses p WHERE ${endsRuns('p')})
    OR EXISTS (SELECT FROM installation_pauses p WHERE ${endsRuns('p')}))`;
