/** The part of ATTEMPTS about the networks, models, instructions and MCP servers of sessions. */
export const NETWORK_ATTEMPTS: Record<string, readonly (readonly [sql: string, by: string])[]> = {
  'a network policy': [
    [`UPDATE workspaces SET network = 'on'`, 'workspaces_network_check'],
    [`UPDATE projects SET network = 'on'`, 'projects_network_check'],
    [`UPDATE workspaces SET allowed_hosts = '{NULL}'`, 'host_list_check'],
    [`UPDATE projects SET allowed_hosts = array_fill('a.b'::text, '{101}')`, 'host_list_check'],
  ],
  'a list of models': [
    [`UPDATE workspaces SET allowed_models = '{NULL}'`, 'model_list_check'],
    [`UPDATE projects SET allowed_models = array_fill('a'::text, '{51}')`, 'model_list_check'],
  ],
  'standing instructions': [
    [`UPDATE projects SET instructions = ''`, 'projects_instructions_check'],
  ],
  'MCP servers': [
    [`UPDATE projects SET mcp_servers = '{}'`, 'projects_mcp_servers_check'],
    [`UPDATE project_secrets SET column_name = 'name'`, 'project_secrets_column_name_check'],
    [`UPDATE project_secrets SET project_id = uuidv7()`, 'project_secrets_project_fkey'],
    [`UPDATE project_secrets SET key_id = uuidv7()`, 'project_secrets_key_fkey'],
  ],
};
