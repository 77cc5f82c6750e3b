/** The part of ATTEMPTS about the networks, models and instructions of sessions. */
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
};
