import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

const root = join(import.meta.dirname, '../..');

export interface ComposeService {
  image?: string;
  command?: string[];
  environment?: Record<string, string>;
  depends_on?: Record<string, unknown>;
  networks?: string[];
  volumes?: string[];
  security_opt?: string[];
  cap_drop?: string[];
  healthcheck?: { test?: string[] };
}

export interface ComposeFile {
  services: Record<string, ComposeService>;
  networks: Record<string, unknown>;
  volumes: Record<string, unknown>;
}

/**
 * docker-compose.yml as an engine's parser reads it: with the anchors and `<<` resolved, and the
 * variables unresolved.
 */
export function readCompose(text = composeText()): ComposeFile {
  return parse(text, { merge: true, strict: true }) as ComposeFile;
}

export function composeText(): string {
  return readFileSync(join(root, 'docker-compose.yml'), 'utf8');
}

/** Returns the names of all variables in the file: `${NAME}`, `${NAME:?…}`, `${NAME:-…}`. */
export function wantedVariables(text = composeText()): string[] {
  return [...new Set([...text.matchAll(/\$\{(\w+)/g)].map(([, name]) => name ?? ''))].sort();
}

/** Substitutes the variables of a value, as Compose does. */
export function interpolate(value: string, variables: Record<string, string>): string {
  return value.replace(/\$\{(\w+)(?::[?-][^}]*)?\}/g, (_, name: string) => variables[name] ?? '');
}
