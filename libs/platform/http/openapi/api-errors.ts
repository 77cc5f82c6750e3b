import { applyDecorators } from '@nestjs/common';
import { ApiExtraModels, ApiProperty, ApiResponse, getSchemaPath } from '@nestjs/swagger';
import { DroverError, type ErrorCode, ERRORS } from '#lib/kernel';
import type { Operation } from './operations.js';

export const PROBLEM = 'application/problem+json';

class ProblemField {
  @ApiProperty({ example: 'dependsOn[0].taskId' }) field!: string;
  @ApiProperty({ example: 'must be a UUID' }) message!: string;
}

/** RFC 9457, the form of every error answer. */
export class Problem {
  @ApiProperty({ example: 'urn:drover:error:validation_failed' }) type!: string;
  @ApiProperty() title!: string;
  @ApiProperty({ type: 'integer' }) status!: number;
  @ApiProperty({
    enum: Object.keys(ERRORS),
    enumName: 'ErrorCode',
    description: 'The code of the error. It is stable, so programs can rely on it.',
  })
  code!: ErrorCode;
  @ApiProperty({ required: false }) detail?: string;
  @ApiProperty({ description: 'The step that resolves the error.' }) advice!: string;
  @ApiProperty({ type: [ProblemField], required: false }) errors?: ProblemField[];
  @ApiProperty({ description: 'The path of the request.' }) instance!: string;
  @ApiProperty() requestId!: string;
}

const documentedCodes = new WeakMap<object, ErrorCode[]>();

/**
 * Documents the errors of a route, or of all routes of a controller, by their codes. Several uses
 * add up.
 */
export function ApiErrors(...codes: ErrorCode[]): ClassDecorator & MethodDecorator {
  const documentRoute = routeErrors(codes);
  return (target: object, key?: string | symbol, descriptor?: PropertyDescriptor) => {
    if (key !== undefined && descriptor) return documentRoute(target, key, descriptor);
    const { prototype } = target as { prototype: object };
    for (const [name, method] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
      const isRoute = name !== 'constructor' && Reflect.hasMetadata('path', method.value as object);
      if (isRoute) documentRoute(prototype, name, method);
    }
  };
}

function routeErrors(codes: readonly ErrorCode[]) {
  return (target: object, key: string | symbol, descriptor: PropertyDescriptor): void => {
    const handler = descriptor.value as object;
    const before = documentedCodes.get(handler) ?? [];
    const fresh = [...new Set(codes)].filter((code) => !before.includes(code));
    const all = [...before, ...fresh];
    documentedCodes.set(handler, all);
    const statuses = [...new Set(fresh.map(statusOf))];
    const responses = statuses.map((status) => {
      const ofStatus = (code: ErrorCode) => statusOf(code) === status;
      return problemResponse(status, fresh.filter(ofStatus), all.filter(ofStatus));
    });
    applyDecorators(ApiExtraModels(Problem), ...responses)(target, key, descriptor);
  };
}

/** The request that each example refuses. */
const EXAMPLE_REQUEST = {
  instance: '/api/v1/…',
  requestId: '0198c0de-7000-7000-8000-000000000000',
};

/** An example of a refusal; responses refer to it by its code. */
export function exampleOf(code: ErrorCode): { value: object } {
  return { value: { ...new DroverError(code).toProblem(), ...EXAMPLE_REQUEST } };
}

function statusOf(code: ErrorCode): number {
  return ERRORS[code].status;
}

/**
 * Swagger merges descriptions of a status from several decorators, but uses only the last content.
 */
function problemResponse(status: number, fresh: ErrorCode[], all: ErrorCode[]): MethodDecorator {
  return ApiResponse({ status, description: describe(fresh), content: contentOf(examplesOf(all)) });
}

/** Adds an error to the responses of an operation in the document. */
export function addError(responses: Operation['responses'], code: ErrorCode): void {
  const { [statusOf(code)]: before } = responses as Record<number, Response | undefined>;
  const examples = { ...before?.content?.[PROBLEM]?.examples, ...examplesOf([code]) };
  const description = [before?.description ?? [], describe([code])].flat().join('\n\n');
  responses[statusOf(code)] = { description, content: contentOf(examples) };
}

type Response = { description?: string; content?: Partial<ReturnType<typeof contentOf>> };
type Examples = Record<string, { $ref: string }>;

function describe(codes: readonly ErrorCode[]): string {
  return codes.map((code) => `\`${code}\`: ${ERRORS[code].title}`).join('\n\n');
}

function examplesOf(codes: readonly ErrorCode[]): Examples {
  return Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }]));
}

function contentOf(examples: Examples) {
  return { [PROBLEM]: { schema: { $ref: getSchemaPath(Problem) }, examples } };
}
