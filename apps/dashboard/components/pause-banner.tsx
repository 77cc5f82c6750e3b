import { useRead } from '../api/read.js';
import { stripControls } from '../domain/format.js';
import { Caller } from './caller.js';
import { Ago } from './parts.js';
import { EndPause } from './pauses.js';

const EVERY_MS = 10_000;

/** Says on every page that no task starts, why, and who paused them. */
export default function PauseBanner() {
  const pauses = useRead(
    ['pauses'],
    (api, signal) => api.get('/api/v1/pauses', { params: { query: { limit: 50 } }, signal }),
    { every: EVERY_MS },
  );
  const pause = pauses.data?.items.find(({ scope }) => scope !== 'task_type');
  if (pause === undefined) return null;
  return (
    <div className="banner" role="status">
      <span>
        {pause.endRuns ? 'The kill switch is on' : 'All tasks are paused'}:{' '}
        <bdi>{stripControls(pause.reason)}</bdi> (<Caller of={pause.pausedBy} />,{' '}
        <Ago at={pause.createdAt} />)
      </span>
      <EndPause pause={pause} />
    </div>
  );
}
