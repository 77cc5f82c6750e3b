/** A setting of git and its value. */
export type Setting = readonly [name: string, value: string];

/** Variables of the host by which programs reach other machines. */
const NETWORK_VARIABLES = [
  'GIT_SSL_CAINFO',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'http_proxy',
  'https_proxy',
  'no_proxy',
  'HTTPS_PROXY',
  'NO_PROXY',
];
const NOWHERE = '/nonexistent';

/**
 * The environment of git: no configuration of the machine or a user, no terminal, no editor, no
 * question, and only the protocols that the call needs.
 */
export function hardenedEnv(protocols: readonly string[]): Record<string, string> {
  const network = protocols.length === 0 ? [] : NETWORK_VARIABLES;
  const passed = network.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return {
    ...Object.fromEntries(passed),
    PATH: process.env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin',
    LC_ALL: 'C',
    HOME: NOWHERE,
    XDG_CONFIG_HOME: NOWHERE,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_SYSTEM: '/dev/null',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: 'false',
    SSH_ASKPASS: 'false',
    GIT_EDITOR: 'false',
    GIT_SEQUENCE_EDITOR: 'false',
    GIT_PAGER: 'cat',
    GIT_ALLOW_PROTOCOL: protocols.length === 0 ? 'none' : protocols.join(':'),
    GIT_PROTOCOL_FROM_USER: '0',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_NO_LAZY_FETCH: '1',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_ADVICE: '0',
  };
}

/**
 * The settings of every call. They have precedence over each file. Drivers of filters, merges and
 * diffs are defined by files alone, and the files of a host's git folders define none.
 */
const SETTINGS: readonly Setting[] = [
  ['core.hooksPath', '/dev/null'],
  ['core.fsmonitor', 'false'],
  ['core.untrackedCache', 'false'],
  ['core.attributesFile', '/dev/null'],
  ['core.excludesFile', '/dev/null'],
  ['core.pager', 'cat'],
  ['core.editor', 'false'],
  ['core.alternateRefsCommand', 'true'],
  ['core.sshCommand', 'false'],
  ['core.gitProxy', 'none'],
  ['core.protectHFS', 'true'],
  ['core.protectNTFS', 'true'],
  ['core.quotePath', 'false'],
  ['safe.directory', '*'],
  ['credential.helper', ''],
  ['commit.gpgSign', 'false'],
  ['tag.gpgSign', 'false'],
  ['push.gpgSign', 'false'],
  ['log.showSignature', 'false'],
  ['submodule.recurse', 'false'],
  ['fetch.recurseSubmodules', 'false'],
  ['push.recurseSubmodules', 'no'],
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
  ['receive.autogc', 'false'],
  ['http.followRedirects', 'false'],
  ['http.lowSpeedLimit', '1000'],
  ['http.lowSpeedTime', '60'],
  ['advice.detachedHead', 'false'],
  ['init.defaultBranch', 'main'],
];

/** The settings as variables: no argument shows them, and child processes of the call get them. */
export function hardenedConfig(further: readonly Setting[]): Record<string, string> {
  const all = [...SETTINGS, ...further];
  const env: Record<string, string> = { GIT_CONFIG_COUNT: String(all.length) };
  all.forEach(([name, value], index) => {
    env[`GIT_CONFIG_KEY_${index}`] = name;
    env[`GIT_CONFIG_VALUE_${index}`] = value;
  });
  return env;
}

/**
 * The command that serves a repository of this machine whose files others wrote. Git gives it none
 * of the caller's settings, so they are arguments of it.
 */
export function hardenedServer(command: 'upload-pack' | 'receive-pack'): string {
  const names = ['core.hooksPath', 'core.fsmonitor', 'core.alternateRefsCommand', 'gc.auto'];
  const chosen = SETTINGS.filter(([name]) =>
    [...names, 'safe.directory', 'receive.autogc', 'maintenance.auto'].includes(name),
  );
  const options = chosen.map(([name, value]) => `-c '${name}=${value}'`).join(' ');
  const more = '-c receive.denyCurrentBranch=ignore -c receive.denyNonFastForwards=false';
  return `GIT_ALLOW_PROTOCOL=none GIT_NO_LAZY_FETCH=1 git ${options} ${more} ${command}`;
}
