import { type ComponentProps, useId } from 'react';
import { useRead } from '../api/read.js';
import { stripControls } from '../domain/format.js';
import { Field } from './parts.js';

interface PickerProps extends Omit<ComponentProps<'select'>, 'className'> {
  label?: string;
  hint?: string;
  /** The text of the empty choice. */
  empty: string;
}

interface Item {
  id: string;
  name: string;
}

/** A choice of things by their names. An unknown value stays, with its id as its name. */
export function Picker({
  label = '',
  hint,
  empty,
  items,
  ...rest
}: PickerProps & { items: Item[] | undefined }) {
  const chosen = String(rest.value ?? rest.defaultValue ?? '');
  const isKnown = chosen === '' || items?.some(({ id }) => id === chosen);
  return (
    <Field label={label} {...(hint !== undefined && { hint })}>
      <select key={items === undefined ? 'loading' : 'loaded'} className="input" {...rest}>
        <option value="">{empty}</option>
        {!isKnown && <option value={chosen}>{chosen}</option>}
        {items?.map(({ id, name }) => (
          <option key={id} value={id}>
            {stripControls(name)}
          </option>
        ))}
      </select>
    </Field>
  );
}

const LIMIT = 200;

/** The projects that are not archived, by name. */
export function useProjects() {
  return useRead(['projects', 'open'], (api, signal) =>
    api.get('/api/v1/projects', { params: { query: { archived: false, limit: LIMIT } }, signal }),
  );
}

export function ProjectPicker(props: Omit<PickerProps, 'empty'> & { empty?: string }) {
  const { data } = useProjects();
  return <Picker label="Project" name="projectId" empty="None" {...props} items={data?.items} />;
}

export function MilestonePicker({
  projectId,
  ...props
}: Omit<PickerProps, 'empty'> & { projectId: string }) {
  const { data } = useRead(
    ['milestones', projectId, 'open'],
    (api, signal) => {
      const params = { path: { id: projectId }, query: { archived: false, limit: LIMIT } };
      return api.get('/api/v1/projects/{id}/milestones', { params, signal });
    },
    { enabled: projectId !== '' },
  );
  if (projectId === '') return null;
  return (
    <Picker label="Milestone" name="milestoneId" empty="None" {...props} items={data?.items} />
  );
}

export function useAgents() {
  return useRead(['agents', 'pick'], (api, signal) =>
    api.get('/api/v1/agents', { params: { query: { limit: LIMIT } }, signal }),
  );
}

export function AgentPicker(props: Omit<PickerProps, 'empty'>) {
  const { data } = useAgents();
  const items = data?.items.filter(({ status }) => status !== 'TERMINATED');
  return <Picker label="Agent" name="agentId" empty="Any agent" {...props} items={items} />;
}

export function RepositoryPicker(props: Omit<PickerProps, 'empty'>) {
  const { data } = useRead(['repositories', 'pick'], (api, signal) =>
    api.get('/api/v1/repositories', { params: { query: { limit: LIMIT } }, signal }),
  );
  const items = data?.items.filter(({ archivedAt }) => archivedAt === null);
  return <Picker label="Repository" name="repositoryId" empty="None" {...props} items={items} />;
}

/** A text with the models of the price list as suggestions. */
export function ModelField(props: ComponentProps<'input'>) {
  const list = useId();
  const { data } = useRead(['model-prices', 'now'], (api, signal) => {
    const query = { at: new Date().toISOString(), limit: LIMIT };
    return api.get('/api/v1/model-prices', { params: { query }, signal });
  });
  return (
    <>
      <input className="input" maxLength={200} list={list} {...props} />
      <datalist id={list}>
        {data?.items.map(({ model }) => (
          <option key={model} value={model} />
        ))}
      </datalist>
    </>
  );
}
