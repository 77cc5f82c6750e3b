import { useRef, useState } from 'react';
import type { components } from '#lib/api-client';
import { describeError, useRead } from '../api/read.js';
import { formatExact } from '../domain/format.js';
import { toRule } from '../domain/schedule-draft.js';
import { ownTimeZone } from '../domain/time-zone.js';
import { Button, Field } from './parts.js';
import { TaskFields } from './task-fields.js';

const PREVIEWED = 10;

/** The fields of a new schedule, with the next due times of its rule. */
export function ScheduleFields() {
  return (
    <>
      <RuleFields />
      <PolicyFields />
      <h3>Task of each due time</h3>
      <TaskFields prefill={{ taskType: 'command' }} of="schedule" />
    </>
  );
}

type Schedule = components['schemas']['Schedule'];

/** The name and the rule of a schedule. */
export function RuleFields({ of }: { of?: Schedule }) {
  return (
    <>
      <Field label="Name" hint="It is also the title of tasks without one.">
        <input className="input" name="name" required maxLength={200} defaultValue={of?.name} />
      </Field>
      <div className="pair">
        <Field label="Cron expression" hint="Such as 0 9 * * MON-FRI or @daily.">
          <input className="input mono" name="cron" maxLength={200} defaultValue={of?.cron ?? ''} />
        </Field>
        <Field label="Time zone">
          <input className="input" name="timeZone" defaultValue={of?.timeZone ?? ownTimeZone()} />
        </Field>
        <Field label="Or every … seconds">
          <input
            className="input"
            name="everySeconds"
            type="number"
            min={1}
            defaultValue={of?.everySeconds ?? ''}
          />
        </Field>
      </div>
      <Preview />
    </>
  );
}

/** The policies for due times that overlap or are late. */
export function PolicyFields({ of }: { of?: Schedule }) {
  return (
    <>
      <div className="pair">
        <Field label="While earlier tasks are unfinished">
          <select className="input" name="overlap" defaultValue={of?.overlap ?? 'skip'}>
            <option value="skip">Skip</option>
            <option value="queue">Queue one</option>
            <option value="allow">Start too</option>
            <option value="cancel">Cancel the earlier tasks</option>
          </select>
        </Field>
        <Field label="Missed due times">
          <select className="input" name="missed" defaultValue={of?.missed ?? 'last'}>
            <option value="last">Start the latest</option>
            <option value="none">Start none</option>
            <option value="all">Start all, at most the number below</option>
          </select>
        </Field>
      </div>
      <div className="pair">
        <Field label="Maximum of missed due times">
          <input
            className="input"
            name="missedLimit"
            type="number"
            min={1}
            max={1_000}
            defaultValue={of?.missedLimit ?? 10}
          />
        </Field>
        <Field label="Jitter (s)" hint="The maximum delay of a start.">
          <input
            className="input"
            name="jitterSeconds"
            type="number"
            min={0}
            max={86_400}
            defaultValue={of?.jitterSeconds ?? 0}
          />
        </Field>
      </div>
    </>
  );
}

function Preview() {
  const frame = useRef<HTMLDivElement>(null);
  const [rule, setRule] = useState<ReturnType<typeof toRule>>();
  const preview = useRead(
    ['due-times', rule],
    (api, signal) =>
      api.post('/api/v1/schedules/preview', { body: { ...rule, count: PREVIEWED }, signal }),
    { enabled: rule !== undefined },
  );
  function show(): void {
    const form = frame.current?.closest('form');
    if (form) setRule(toRule(new FormData(form)));
  }
  return (
    <div ref={frame} className="stack">
      <div>
        <Button onClick={show} disabled={preview.isFetching}>
          Show next due times
        </Button>
      </div>
      {preview.error && (
        <p className="problem" role="alert">
          {describeError(preview.error)}
        </p>
      )}
      {preview.data && <DueTimes times={preview.data.items} />}
    </div>
  );
}

interface DueTimesProps {
  times: { dueAt: string }[];
}

/** Due times in the time zone of the browser. */
export function DueTimes({ times }: DueTimesProps) {
  if (times.length === 0) return <p className="muted">It is never due again.</p>;
  return (
    <ol aria-label="Next due times">
      {times.map(({ dueAt }) => (
        <li key={dueAt}>
          <time dateTime={dueAt}>{formatExact(dueAt)}</time>
        </li>
      ))}
    </ol>
  );
}
