import type { components } from '#lib/api-client';
import { useCommand, useRead } from '../api/read.js';
import { stripControls } from '../domain/format.js';
import { FormDialog } from './form-dialog.js';
import { Ago, Empty, Field, Loaded, Panel } from './parts.js';
import { ProjectPicker, useProjects } from './pickers.js';

type Provider = components['schemas']['ModelProvider'];
type Name = Provider['provider'];

const NAMES: Record<Name, string> = { anthropic: 'Anthropic', openai: 'OpenAI', gemini: 'Gemini' };
const SOURCES: Record<Provider['source'], string> = {
  project: 'of a project',
  workspace: 'of the workspace',
  installation: 'of the installation',
};
const CHANGES = [['model-providers']];

/** The keys and addresses with which coding agents reach models, for admins. */
export function ModelProviders() {
  const providers = useRead(['model-providers'], (api, signal) =>
    api.get('/api/v1/model-providers', { signal }),
  );
  return (
    <Panel title="Providers of models" end={<SetProvider />}>
      <Loaded query={providers}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="No providers yet" small>
              <p>Coding agents reach models with the key of a provider. Set one.</p>
            </Empty>
          ) : (
            <ul className="stack" aria-label="Providers of models">
              {items.map((provider) => (
                <OneProvider key={`${provider.provider} ${provider.projectId}`} of={provider} />
              ))}
            </ul>
          )
        }
      </Loaded>
    </Panel>
  );
}

function OneProvider({
  of: { provider, projectId, baseUrl, source, updatedAt },
}: {
  of: Provider;
}) {
  const projects = useProjects();
  const project = projects.data?.find(({ id }) => id === projectId);
  const params = { path: { provider }, query: projectId === null ? {} : { projectId } };
  const remove = useCommand((api) => api.delete('/api/v1/model-providers/{provider}', { params }), {
    done: 'Provider removed',
    changes: CHANGES,
  });
  return (
    <li className="run-line">
      <span>
        <b>{NAMES[provider]}</b> <code dir="auto">{stripControls(baseUrl)}</code>{' '}
        <span className="muted">
          {project ? `of the project ${stripControls(project.name)}` : SOURCES[source]}
          {updatedAt !== null && (
            <>
              , set <Ago at={updatedAt} />
            </>
          )}
        </span>
      </span>
      {source !== 'installation' && (
        <FormDialog
          open="Remove"
          look="danger"
          title={`Remove ${NAMES[provider]} and its key?`}
          confirm="Remove provider"
          onConfirm={(_, callbacks) => remove.mutate(undefined, callbacks)}
        >
          <p>Agents then use the key of the next level, if there is one.</p>
        </FormDialog>
      )}
    </li>
  );
}

function SetProvider() {
  const set = useCommand(
    (api, form: FormData) => {
      const text = (name: string) => String(form.get(name) ?? '').trim();
      const projectId = text('projectId');
      return api.put('/api/v1/model-providers/{provider}', {
        params: {
          path: { provider: text('provider') as Name },
          query: projectId === '' ? {} : { projectId },
        },
        body: { key: text('key'), ...(text('baseUrl') !== '' && { baseUrl: text('baseUrl') }) },
      });
    },
    { done: 'Provider set', changes: CHANGES },
  );
  return (
    <FormDialog
      open="Set provider"
      title="Set a provider of models"
      confirm="Set provider"
      onConfirm={set.mutate}
    >
      <Field label="Provider">
        <select className="input" name="provider">
          {Object.entries(NAMES).map(([value, name]) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </select>
      </Field>
      <Field label="Key" hint="It is sealed and never shown.">
        <input className="input" name="key" type="password" required autoComplete="off" />
      </Field>
      <Field label="Address" hint="Of the provider's API or of a gateway. Empty: the usual one.">
        <input className="input" name="baseUrl" type="url" maxLength={2_000} />
      </Field>
      <ProjectPicker empty="Whole workspace" />
    </FormDialog>
  );
}
