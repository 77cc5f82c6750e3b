import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { foreignKeyLine, indexLine, type SchemaShape, type TableShape } from './shape.js';

interface DataModel {
  models: Model[];
  indexes: Index[];
}

interface Model {
  name: string;
  dbName: string | null;
  fields: Field[];
  primaryKey: { fields: string[] } | null;
}

interface Field {
  name: string;
  dbName?: string;
  kind: 'scalar' | 'object' | 'enum' | 'unsupported';
  type: string;
  nativeType: [string, string[]] | null;
  isList: boolean;
  isRequired: boolean;
  isId: boolean;
  default?: unknown;
  relationFromFields?: string[];
  relationToFields?: string[];
  relationOnDelete?: string;
  relationOnUpdate?: string;
}

interface Index {
  model: string;
  type: 'id' | 'normal' | 'unique' | 'fulltext';
  dbName?: string;
  fields: { name: string }[];
}

const SCHEMA = resolve('prisma/schema.prisma');

/** The tables that schema.prisma describes, as Prisma's own parser understands it. */
export async function prismaShape(): Promise<SchemaShape> {
  const text = await readFile(SCHEMA, 'utf8');
  const model = await dataModel(text);
  return Object.fromEntries(model.models.map((m) => [tableOf(m), tableShape(model, m, text)]));
}

async function dataModel(schema: string): Promise<DataModel> {
  const folder = await mkdtemp(join(tmpdir(), 'drover-schema-'));
  const output = join(folder, 'data-model.json');
  const provider = `"${process.execPath}" "${resolve('test/schema/dmmf-generator.mjs')}"`;
  const generator = `generator model {\n  provider = ${JSON.stringify(provider)}\n  output = ${JSON.stringify(output)}\n}\n`;
  const file = join(folder, 'schema.prisma');
  try {
    await writeFile(file, schema.replace(/^generator \w+ \{[^}]*\}/m, generator));
    const args = ['node_modules/prisma/build/index.js', 'generate', '--no-hints', '--schema', file];
    await promisify(execFile)(process.execPath, args, {
      env: {
        ...process.env,
        // Reading a schema needs no engine, but the CLI insists on finding one.
        PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
        PRISMA_HIDE_UPDATE_MESSAGE: '1',
        CHECKPOINT_DISABLE: '1',
      },
    });
    return JSON.parse(await readFile(output, 'utf8')) as DataModel;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function tableShape(all: DataModel, model: Model, text: string): TableShape {
  const columns = model.fields.filter((field) => field.kind !== 'object');
  const indexes = all.indexes.filter((index) => index.model === model.name && index.type !== 'id');
  const idFields = model.primaryKey?.fields ?? columns.filter((f) => f.isId).map((f) => f.name);
  return {
    columns: Object.fromEntries(
      columns.map((field) => [
        columnOf(field),
        { type: typeOf(field), nullable: !field.isRequired, default: defaultOf(field) },
      ]),
    ),
    primaryKey: columnsOf(model, idFields),
    foreignKeys: model.fields.flatMap((field) => foreignKey(all, model, field)).sort(),
    indexes: indexes.map((index) => indexOf(model, index)).sort(),
    partialIndexes: partialIndexes(model, text),
  };
}

function foreignKey(all: DataModel, model: Model, field: Field): string[] {
  const target = all.models.find((other) => other.name === field.type);
  if (!target || !field.relationFromFields?.length) return [];
  const line = foreignKeyLine({
    columns: columnsOf(model, field.relationFromFields),
    table: tableOf(target),
    references: columnsOf(target, field.relationToFields ?? []),
    onDelete: field.relationOnDelete ?? 'by default',
    onUpdate: field.relationOnUpdate ?? 'by default',
  });
  return [line];
}

function indexOf(model: Model, index: Index): string {
  const columns = columnsOf(
    model,
    index.fields.map((field) => field.name),
  );
  const unique = index.type === 'unique';
  const name = index.dbName ?? `${tableOf(model)}_${columns.join('_')}_${unique ? 'key' : 'idx'}`;
  return indexLine({ name, unique, columns });
}

/** Prisma has no words for them, so the schema lists them in comments. */
function partialIndexes(model: Model, text: string): string[] {
  const block = new RegExp(`^model ${model.name} \\{[^]*?^\\}`, 'm').exec(text)?.[0] ?? '';
  const comments = [...block.matchAll(/^ *\/\/ Partial(, unique)?: (\w+)$/gm)];
  return comments.map(([, unique, name]) => `${unique ? 'unique ' : ''}${name}`).sort();
}

const TYPES: Record<string, string> = {
  String: 'text',
  Int: 'integer',
  BigInt: 'bigint',
  Float: 'double precision',
  Boolean: 'boolean',
  Json: 'jsonb',
  Bytes: 'bytea',
  Uuid: 'uuid',
  VarChar: 'character varying',
  Timestamp: 'timestamp without time zone',
  Timestamptz: 'timestamp with time zone',
  SmallInt: 'smallint',
  Date: 'date',
  Decimal: 'numeric',
};

function typeOf({ type, nativeType, isList }: Field): string {
  const [name, args] = nativeType ?? [type, []];
  // The default precision of times is six digits.
  const size = args.length > 0 && !/^Timestamp(tz)?\(6\)$/.test(`${name}(${args.join()})`);
  const base = TYPES[name] ?? `unknown type ${name}`;
  return `${base}${size ? `(${args.join()})` : ''}${isList ? '[]' : ''}`;
}

function defaultOf({ default: value }: Field): string | null {
  if (value === undefined) return null;
  if (Array.isArray(value)) return JSON.stringify(value);
  if (typeof value !== 'object' || value === null) return String(value);
  const { name, args } = value as { name: string; args: unknown[] };
  if (name !== 'dbgenerated') return `${name}()`;
  // A call without an expression marks a generated column.
  return args.length > 0 ? args.join() : 'generated';
}

function tableOf(model: Model): string {
  return model.dbName ?? model.name;
}

function columnOf(field: Field): string {
  return field.dbName ?? field.name;
}

function columnsOf(model: Model, names: readonly string[]): string[] {
  return names.map((name) => {
    const field = model.fields.find((candidate) => candidate.name === name);
    return field ? columnOf(field) : name;
  });
}
