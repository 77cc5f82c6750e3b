import type { IncomingHttpHeaders } from 'node:http';
import { ApiHeader } from '@nestjs/swagger';

const MINIMAL = /(?:^|,)\s*return\s*=\s*"?minimal"?\s*(?:[,;]|$)/i;

/** True if the client asks for the shortest answer: `Prefer: return=minimal` (RFC 7240). */
export function prefersMinimal({ prefer }: IncomingHttpHeaders): boolean {
  return prefer !== undefined && MINIMAL.test(String(prefer));
}

/** Documents the header of a route whose answer can be shorter. */
export function Prefer(): MethodDecorator {
  return ApiHeader({
    name: 'Prefer',
    required: false,
    description: '`return=minimal` for an answer with ids alone (RFC 7240).',
    schema: { type: 'string', example: 'return=minimal' },
  });
}
