import { useState } from 'react';
import type { components } from '#lib/api-client';
import { useCommand, useRead } from '../api/read.js';
import { stripControls } from '../domain/format.js';
import { toMcpServer } from '../domain/mcp-server-draft.js';
import { FormDialog } from './form-dialog.js';
import { Button, Empty, Field, Loaded, Panel } from './parts.js';

type Project = components['schemas']['Project'];

/** The MCP servers of the coding agents of each project. */
export function McpServers() {
  const [chosen, setChosen] = useState<string>();
  const projects = useRead(['projects'], (api, signal) => {
    const params = { query: { archived: false, limit: 200 } };
    return api.get('/api/v1/projects', { params, signal });
  });
  const items = projects.data?.items ?? [];
  const project = items.find(({ id }) => id === chosen) ?? items[0];
  return (
    <Panel title="MCP servers" end={project && <AddServer project={project} />}>
      <Loaded query={projects}>
        {() =>
          project === undefined ? (
            <Empty title="No projects yet" small>
              <p>A project gives its coding agents the tools of MCP servers.</p>
            </Empty>
          ) : (
            <div className="stack">
              <Field label="Project">
                <select
                  className="input"
                  value={project.id}
                  onChange={(event) => setChosen(event.target.value)}
                >
                  {items.map(({ id, name }) => (
                    <option key={id} value={id}>
                      {stripControls(name)}
                    </option>
                  ))}
                </select>
              </Field>
              <Servers project={project} />
            </div>
          )
        }
      </Loaded>
    </Panel>
  );
}

function useServers(project: Project, done: string) {
  return useCommand(
    (api, mcpServers: Project['mcpServers']) =>
      api.patch('/api/v1/projects/{id}', {
        params: { path: { id: project.id } },
        body: { mcpServers },
      }),
    { done, changes: [['projects']] },
  );
}

function Servers({ project }: { project: Project }) {
  const set = useServers(project, 'MCP server removed');
  const { mcpServers } = project;
  if (mcpServers.length === 0) return <p className="muted">The project has no MCP servers.</p>;
  return (
    <ul className="stack" aria-label="MCP servers">
      {mcpServers.map(({ name, url, command, args = [] }) => (
        <li key={name} className="run-line">
          <b>{name}</b> <code dir="auto">{stripControls(url ?? [command, ...args].join(' '))}</code>{' '}
          <Button
            look="danger"
            aria-label={`Remove the MCP server ${name}`}
            disabled={set.isPending}
            onClick={() => set.mutate(mcpServers.filter((server) => server.name !== name))}
          >
            Remove
          </Button>
        </li>
      ))}
    </ul>
  );
}

function AddServer({ project }: { project: Project }) {
  const set = useServers(project, 'MCP server added');
  return (
    <FormDialog
      open="Add MCP server"
      title={`Add an MCP server to ${stripControls(project.name)}`}
      confirm="Add MCP server"
      onConfirm={(form, callbacks) =>
        set.mutate([...project.mcpServers, toMcpServer(form)], callbacks)
      }
    >
      <Field label="Name" hint="Lower-case letters, digits and -">
        <input className="input" name="name" required maxLength={32} pattern="[a-z0-9\-]+" />
      </Field>
      <Field
        label="Address or command"
        hint="An https address, or a program with its arguments, which no shell parses."
      >
        <input className="input mono" name="target" required maxLength={2_000} />
      </Field>
      <Field
        label="Headers or variables"
        hint="One NAME=value a line. The values are sealed and never shown again."
      >
        <textarea className="input mono" name="secrets" rows={3} />
      </Field>
    </FormDialog>
  );
}
