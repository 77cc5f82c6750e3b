import type { components } from '#lib/api-client';
import { useCommand, useRead } from '../api/read.js';
import { useWorkspace } from '../api/workspace.js';
import { stripControls } from '../domain/format.js';
import {
  changeRouting,
  describeConditions,
  formatFallbacks,
  parseFallbacks,
  TIERS,
  toRule,
} from '../domain/model-routing.js';
import { FormDialog, ifMatch } from './form-dialog.js';
import { Button, Empty, Facts, Field, Loaded, Panel } from './parts.js';
import { ModelField, ProjectPicker, useProjects } from './pickers.js';

type Routing = components['schemas']['ModelRouting'];

/** The rules that choose models for tasks, the models of the tiers, and fallbacks. */
export function ModelRouting() {
  const { may } = useWorkspace();
  const routing = useRead(['model-routing'], (api, signal) =>
    api.get('/api/v1/model-routing', { signal }),
  );
  const { data } = routing;
  const actions = data && may('ADMIN') && (
    <>
      <AddRule routing={data} />
      <EditRouting routing={data} />
    </>
  );
  return (
    <Panel title="Routing" end={actions}>
      <Loaded query={routing}>
        {(now) => (
          <div className="stack">
            <p>
              {now.enabled
                ? 'Each run gets the model of the first rule that matches its task.'
                : 'Routing is off. Agents choose their models.'}
            </p>
            <Rules routing={now} />
            <Facts
              items={[
                ...TIERS.map((tier): [string, string] => [`Model of ${tier}`, now.tiers[tier]]),
                ['Fallbacks', formatFallbacks(now.fallbacks)],
              ]}
            />
          </div>
        )}
      </Loaded>
    </Panel>
  );
}

/** Sets the routing with the version that the page shows. */
function useSetRouting(done: string) {
  return useCommand(
    (api, { version, ...body }: components['schemas']['SetModelRouting'] & { version: number }) =>
      api.put('/api/v1/model-routing', {
        params: { header: { 'If-Match': `"${version}"` } },
        body,
      }),
    { done, changes: [['model-routing']] },
  );
}

function Rules({ routing }: { routing: Routing }) {
  const { may } = useWorkspace();
  const projects = useProjects();
  const set = useSetRouting('Rules changed');
  const { rules, version } = routing;
  const change = (next: Routing['rules']) =>
    set.mutate({ ...changeRouting(routing, { rules: next }), version });
  if (rules.length === 0)
    return (
      <Empty title="No rules yet" small>
        <p>Without a rule of the workspace, the rules of the server choose the tier.</p>
      </Empty>
    );
  const nameOf = (id: string) =>
    stripControls(projects.data?.find((project) => project.id === id)?.name ?? id);
  return (
    <ol className="stack" aria-label="Rules">
      {rules.map((rule, at) => (
        <li key={`${at} ${JSON.stringify(rule)}`} className="run-line">
          <span>
            <b>{stripControls(rule.model ?? rule.tier ?? '')}</b> for{' '}
            {stripControls(describeConditions(rule, nameOf))}
          </span>
          {may('ADMIN') && (
            <span className="actions">
              {at > 0 && (
                <Button
                  look="quiet"
                  aria-label={`Move up rule ${at + 1}`}
                  disabled={set.isPending}
                  onClick={() =>
                    change(rules.with(at - 1, rule).with(at, rules[at - 1] as typeof rule))
                  }
                >
                  Move up
                </Button>
              )}
              <Button
                look="danger"
                aria-label={`Remove rule ${at + 1}`}
                disabled={set.isPending}
                onClick={() => change(rules.toSpliced(at, 1))}
              >
                Remove
              </Button>
            </span>
          )}
        </li>
      ))}
    </ol>
  );
}

function AddRule({ routing }: { routing: Routing }) {
  const set = useSetRouting('Rule added');
  return (
    <FormDialog
      open="Add rule"
      title="Add a rule"
      confirm="Add rule"
      onConfirm={(form, callbacks) => {
        const rules = [...routing.rules, toRule(form)];
        set.mutate({ ...changeRouting(routing, { rules }), version: routing.version }, callbacks);
      }}
    >
      <p>All conditions must match. An empty field is no condition.</p>
      <div className="pair">
        <Field label="Type of task">
          <input className="input" name="taskType" maxLength={100} />
        </Field>
        <ProjectPicker empty="Any project" />
      </div>
      <div className="pair">
        <Field label="Priority, at least">
          <input className="input" name="minPriority" type="number" min={1} max={10} />
        </Field>
        <Field label="Complexity, at least">
          <input className="input" name="minComplexity" type="number" min={1} max={100} />
        </Field>
      </div>
      <Field label="Estimated tokens, at most">
        <input className="input" name="maxEstimatedTokens" inputMode="numeric" pattern="[0-9]+" />
      </Field>
      <div className="pair">
        <Field label="Tier" hint="haiku is the cheapest.">
          <select className="input" name="tier" defaultValue="sonnet">
            {TIERS.map((tier) => (
              <option key={tier}>{tier}</option>
            ))}
          </select>
        </Field>
        <Field label="Model" hint="Instead of a tier.">
          <ModelField name="model" />
        </Field>
      </div>
    </FormDialog>
  );
}

function EditRouting({ routing }: { routing: Routing }) {
  const change = useCommand(
    async (api, form: FormData) => {
      const text = (name: string) => String(form.get(name) ?? '').trim();
      return api.put('/api/v1/model-routing', {
        params: { header: ifMatch(form) },
        body: changeRouting(routing, {
          enabled: form.has('enabled'),
          tiers: Object.fromEntries(
            TIERS.filter((tier) => text(tier) !== '').map((tier) => [tier, text(tier)]),
          ),
          fallbacks: parseFallbacks(text('fallbacks')),
        }),
      });
    },
    { done: 'Routing changed', changes: [['model-routing']] },
  );
  return (
    <FormDialog
      open="Edit routing"
      title="Edit routing"
      confirm="Save changes"
      version={routing.version}
      onConfirm={change.mutate}
    >
      <label className="check">
        <input type="checkbox" name="enabled" defaultChecked={routing.enabled} /> Choose the models
        of runs
      </label>
      {TIERS.map((tier) => (
        <Field key={tier} label={`Model of ${tier}`} hint="Empty: the server's.">
          <ModelField name={tier} defaultValue={routing.tiers[tier]} />
        </Field>
      ))}
      <Field
        label="Fallbacks"
        hint="One model a line: claude-opus-4-6: claude-sonnet-4-6, claude-haiku-4-5"
      >
        <textarea
          className="input mono"
          name="fallbacks"
          rows={3}
          defaultValue={formatFallbacks(routing.fallbacks)}
        />
      </Field>
    </FormDialog>
  );
}
