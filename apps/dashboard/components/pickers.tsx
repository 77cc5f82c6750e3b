import { type ComponentProps, useId, useState } from 'react';
import { useAll } from '../api/read.js';
import { stripControls } from '../domain/format.js';
import { AGENTS_IN_FLEET } from '../domain/status.js';
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
  return useAll(['projects', 'open'], (api, cursor, signal) => {
    const query = { archived: false, limit: LIMIT, cursor };
    return api.get('/api/v1/projects', { params: { query }, signal });
  });
}

export function ProjectPicker(props: Omit<PickerProps, 'empty'> & { empty?: string }) {
  const { data } = useProjects();
  return <Picker label="Project" name="projectId" empty="None" {...props} items={data} />;
}

export function MilestonePicker({
  projectId,
  ...props
}: Omit<PickerProps, 'empty'> & { projectId: string }) {
  const { data } = useAll(
    ['milestones', projectId, 'open'],
    (api, cursor, signal) => {
      const params = { path: { id: projectId }, query: { archived: false, limit: LIMIT, cursor } };
      return api.get('/api/v1/projects/{id}/milestones', { params, signal });
    },
    { enabled: projectId !== '' },
  );
  if (projectId === '') return null;
  return <Picker label="Milestone" name="milestoneId" empty="None" {...props} items={data} />;
}

/** The agents that are not terminated. */
export function useAgents() {
  return useAll(['agents', 'pick'], (api, cursor, signal) => {
    const query = { status: [...AGENTS_IN_FLEET], limit: LIMIT, cursor };
    return api.get('/api/v1/agents', { params: { query }, signal });
  });
}

export function AgentPicker(props: Omit<PickerProps, 'empty'>) {
  const { data } = useAgents();
  return <Picker label="Agent" name="agentId" empty="Any agent" {...props} items={data} />;
}

export function RepositoryPicker(props: Omit<PickerProps, 'empty'>) {
  const { data } = useAll(['repositories', 'pick'], (api, cursor, signal) => {
    const query = { archived: false, limit: LIMIT, cursor };
    return api.get('/api/v1/repositories', { params: { query }, signal });
  });
  return <Picker label="Repository" name="repositoryId" empty="None" {...props} items={data} />;
}

/** A text with the models of the price list as suggestions. */
export function ModelField(props: ComponentProps<'input'>) {
  const list = useId();
  const [at] = useState(() => new Date().toISOString());
  const { data } = useAll(['model-prices', 'now'], (api, cursor, signal) => {
    const query = { at, limit: LIMIT, cursor };
    return api.get('/api/v1/model-prices', { params: { query }, signal });
  });
  return (
    <>
      <input className="input" maxLength={200} list={list} {...props} />
      <datalist id={list}>
        {data?.map(({ model }) => (
          <option key={model} value={model} />
        ))}
      </datalist>
    </>
  );
}
