import { applyDecorators } from '@nestjs/common';
import { ApiExtraModels, ApiProperty, ApiResponse, getSchemaPath } from '@nestjs/swagger';
import { DroverError, type ErrorCode, ERRORS } from '#lib/kernel';

class ProblemField {
  @ApiProperty({ example: 'dependsOn[0].taskId' }) field!: string;
  @ApiProperty({ example: 'must be a UUID' }) message!: string;
}

/** RFC 9457, as every error is answered. */
export class Problem {
  @ApiProperty({ example: 'urn:drover:error:validation_failed' }) type!: string;
  @ApiProperty() title!: string;
  @ApiProperty() status!: number;
  @ApiProperty({ description: 'Stable: programs decide by it.' }) code!: string;
  @ApiProperty({ required: false }) detail?: string;
  @ApiProperty({ description: 'What to do about it.' }) advice!: string;
  @ApiProperty({ type: [ProblemField], required: false }) errors?: ProblemField[];
  @ApiProperty({ description: 'The path that was asked for.' }) instance!: string;
  @ApiProperty() requestId!: string;
}

const documentedCodes = new WeakMap<object, ErrorCode[]>();

/**
 * Documents the errors of a route by their codes, or of all routes of a controller; used several
 * times on one, it adds them up.
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
    const all = [...new Set([...(documentedCodes.get(handler) ?? []), ...codes])];
    documentedCodes.set(handler, all);
    const statuses = [...new Set(all.map((code) => ERRORS[code].status))];
    const responses = statuses.map((status) =>
      problemResponse(
        status,
        all.filter((code) => ERRORS[code].status === status),
      ),
    );
    applyDecorators(ApiExtraModels(Problem), ...responses)(target, key, descriptor);
  };
}

function problemResponse(status: number, codes: ErrorCode[]): MethodDecorator {
  const examples = Object.fromEntries(
    codes.map((code) => [code, { value: new DroverError(code).toProblem() }]),
  );
  const lines = codes.map((code) => `\`${code}\`: ${ERRORS[code].title}`);
  return ApiResponse({
    status,
    description: lines.join('\n\n'),
    content: {
      'application/problem+json': { schema: { $ref: getSchemaPath(Problem) }, examples },
    },
  });
}
