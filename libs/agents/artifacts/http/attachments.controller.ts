import { Controller, Get, Headers, Param, Put } from '@nestjs/common';
import {
  ApiBody,
  ApiConsumes,
  ApiHeader,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
  ApiTags,
} from '@nestjs/swagger';
import { ApiErrors, BodyStream, type Streamed, StreamedBody, UuidParam } from '#lib/http';
import { Auth, CurrentCaller } from '#lib/identity';
import type { Caller } from '#lib/kernel';
import { Attachments } from '../uploads/attachments.js';
import { AttachmentDto, AttachmentListDto } from './artifacts.dto.js';

const ANY_TYPE = 'application/octet-stream';

@ApiTags('Artifacts')
@Controller('attachments/:attachmentsId')
export class AttachmentsController {
  constructor(private readonly attachments: Attachments) {}

  @Put(':name')
  @Auth({ role: 'MEMBER', scope: 'tasks:write' })
  @StreamedBody()
  @ApiOperation({
    operationId: 'saveAttachment',
    summary: 'Store a file for tasks, or replace that of the same name',
    description:
      'Choose a UUID for the files of a task. Store them, then create the task with the UUID as ' +
      '`inputContext.attachments`. The body is the file, with its media type in Content-Type. The ' +
      'server refuses files with a key of a known format.',
  })
  @ApiParam({
    name: 'name',
    description: 'A relative path of at most 500 bytes, whose slashes are encoded as %2F.',
    schema: { type: 'string', maxLength: 500 },
    example: 'screenshot.png',
  })
  @ApiHeader({
    name: 'Content-Digest',
    required: false,
    description: 'The SHA-256 hash of the body, which the server compares (RFC 9530).',
    schema: { type: 'string', example: 'sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:' },
  })
  @ApiConsumes(ANY_TYPE)
  @ApiBody({ schema: { type: 'string', format: 'binary' } })
  @ApiOkResponse({ type: AttachmentDto })
  @ApiErrors('validation_failed', 'malformed_header', 'artifact_too_large', 'artifact_has_secret')
  @ApiErrors('digest_mismatch', 'artifact_quota', 'artifact_limit', 'artifacts_disabled')
  @ApiErrors('unsupported_media_type')
  save(
    @CurrentCaller() caller: Caller,
    @UuidParam('attachmentsId', { whole: true }) id: string,
    @Param('name') name: string,
    @BodyStream() body: Streamed,
    @Headers('content-digest') digest?: string,
  ) {
    return this.attachments.put(caller, id, { name, digest, ...body });
  }

  @Get()
  @Auth({ kinds: ['user', 'api_key', 'agent', 'run'], scope: 'tasks:read' })
  @ApiOperation({
    summary: 'List the attachments of an id, each with a new link to its content',
    description: 'An unknown id has none.',
  })
  @ApiOkResponse({ type: AttachmentListDto })
  @ApiErrors('validation_failed')
  async list(
    @CurrentCaller() caller: Caller,
    @UuidParam('attachmentsId', { whole: true }) id: string,
  ) {
    return { items: await this.attachments.list(caller, id) };
  }
}
