import type { components } from '#lib/api-client';
import { useRead } from '../api/read.js';
import { useWorkspace } from '../api/workspace.js';
import { stripControls } from '../domain/format.js';
import { DAYS, EVENTS_FOR_PEOPLE, USUAL_EVENTS } from '../domain/notice-draft.js';
import { ownTimeZone } from '../domain/time-zone.js';
import { Field, Loaded } from './parts.js';

type Webhook = components['schemas']['Webhook'];

interface WebhookFieldsProps {
  kind: Webhook['kind'];
  /** The webhook that the form edits. A new one has none. */
  of?: Webhook;
}

/** The fields of a webhook of this kind. The kinds for people have more. */
export function WebhookFields({ kind, of }: WebhookFieldsProps) {
  const isForPeople = kind !== 'signed';
  return (
    <>
      {kind === 'email' ? (
        <Recipients ids={of?.recipients ?? []} />
      ) : (
        <Url kind={kind} {...(of && { of })} />
      )}
      {isForPeople ? <EventChoices events={of?.events} /> : <EventNames events={of?.events} />}
      <Field label="Description">
        <input
          className="input"
          name="description"
          maxLength={1_000}
          defaultValue={of?.description ?? ''}
        />
      </Field>
      {isForPeople ? (
        <Message {...(of && { of })} />
      ) : (
        <label>
          <input type="checkbox" name="hubSignature" defaultChecked={of?.hubSignature ?? false} />{' '}
          Also sign as GitHub does (X-Hub-Signature-256)
        </label>
      )}
    </>
  );
}

/** The events that people mostly want, and a field for the names of others. */
function EventChoices({ events = USUAL_EVENTS }: { events: string[] | undefined }) {
  const names = Object.keys(EVENTS_FOR_PEOPLE);
  return (
    <>
      <fieldset className="field">
        <legend>Events</legend>
        {Object.entries(EVENTS_FOR_PEOPLE).map(([name, label]) => (
          <label key={name}>
            <input
              type="checkbox"
              name="event"
              value={name}
              defaultChecked={events.includes(name)}
            />{' '}
            {label}
          </label>
        ))}
      </fieldset>
      <Field label="Other events" hint="Names, separated by commas, such as agent.status_changed.">
        <input
          className="input"
          name="events"
          defaultValue={events.filter((name) => !names.includes(name)).join(', ')}
        />
      </Field>
    </>
  );
}

function EventNames({ events = ['task'] }: { events: string[] | undefined }) {
  return (
    <Field label="Events" hint="Separate with commas. “task” selects all task events.">
      <input className="input" name="events" required defaultValue={events.join(', ')} />
    </Field>
  );
}

/** The members who receive the e-mails. A recipient who left the workspace cannot be chosen again. */
function Recipients({ ids }: { ids: string[] }) {
  const { workspaceId } = useWorkspace();
  const members = useRead(['members'], (api, signal) => {
    const params = { path: { workspaceId }, query: { limit: 200 } };
    return api.get('/api/v1/workspaces/{workspaceId}/members', { params, signal });
  });
  return (
    <fieldset>
      <legend>Recipients</legend>
      <Loaded query={members}>
        {({ items }) => (
          <ul>
            {items.map(({ userId, email }) => (
              <li key={userId}>
                <label>
                  <input
                    type="checkbox"
                    name="recipients"
                    value={userId}
                    defaultChecked={ids.includes(userId)}
                  />{' '}
                  <bdi>{stripControls(email)}</bdi>
                </label>
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </fieldset>
  );
}

/** The URL of a channel is a secret, so an empty field keeps it. */
function Url({ kind, of }: WebhookFieldsProps) {
  const isSecret = kind === 'slack' || kind === 'discord';
  return (
    <Field
      label="URL"
      {...(isSecret && {
        hint: of ? 'Leave empty to keep the present one.' : 'The incoming webhook of the channel.',
      })}
    >
      <input
        className="input"
        name="url"
        type="url"
        required={!(isSecret && of)}
        maxLength={2_000}
        defaultValue={isSecret ? '' : of?.url}
      />
    </Field>
  );
}

function Message({ of }: { of?: Webhook }) {
  const quiet = of?.quietHours;
  return (
    <>
      <Field label="Template" hint="Replaces the sentence, such as {{task.title}} is {{status}}.">
        <textarea
          className="input"
          name="template"
          rows={2}
          maxLength={2_000}
          defaultValue={of?.template ?? ''}
        />
      </Field>
      <div className="pair">
        <Field label="Seconds between messages" hint="Events in between are joined.">
          <input
            className="input"
            name="digestSeconds"
            type="number"
            min={0}
            max={3_600}
            defaultValue={of?.digestSeconds ?? ''}
          />
        </Field>
        <Field label="Listed events" hint="1 to 50 in one message.">
          <input
            className="input"
            name="digestMax"
            type="number"
            min={1}
            max={50}
            defaultValue={of?.digestMax ?? ''}
          />
        </Field>
      </div>
      <div className="pair">
        <Field label="Quiet from">
          <input className="input" name="quietFrom" type="time" defaultValue={quiet?.from} />
        </Field>
        <Field label="Quiet until">
          <input className="input" name="quietTo" type="time" defaultValue={quiet?.to} />
        </Field>
        <Field label="Time zone">
          <input
            className="input"
            name="quietZone"
            defaultValue={quiet?.timeZone ?? ownTimeZone()}
          />
        </Field>
      </div>
      <fieldset className="chips">
        <legend className="muted">Days of quiet hours. None: all days.</legend>
        {DAYS.map((day) => (
          <label key={day}>
            <input
              type="checkbox"
              name="quietDays"
              value={day}
              defaultChecked={quiet?.days?.includes(day) ?? false}
            />{' '}
            {day}
          </label>
        ))}
      </fieldset>
      <Field label="Also sent in quiet hours" hint="Events, such as budget.alert.">
        <input
          className="input"
          name="quietExcept"
          defaultValue={quiet?.exceptTypes?.join(', ') ?? ''}
        />
      </Field>
    </>
  );
}
