import { ApiProperty } from '@nestjs/swagger';
import { Id, PageQuery, Text } from '#lib/http';
import { ShownId, ShownInt, ShownText, ShownTextOrNull, ShownTime } from '#lib/task-manager';
import type { ArtifactView, AttachmentView } from '../reading/artifact-view.js';

export class AttachmentDto implements AttachmentView {
  @ShownId() id!: string;
  @ShownText({
    description:
      'A relative path. It is unique within the run, or among the attachments of one id.',
    example: 'report/index.html',
  })
  name!: string;
  @ShownText({ example: 'text/html; charset=utf-8' }) mediaType!: string;
  @ShownInt() sizeBytes!: number;
  @ShownText({ description: 'The SHA-256 hash of the content, in hexadecimal digits' })
  sha256!: string;
  @ShownTime() createdAt!: string;
  @ShownTime({ description: 'The time from which the server removes the file' })
  expiresAt!: string;
  @ShownText({
    description:
      'A signed link to the content, below the address of the server. It needs no ' +
      'credentials and is valid for 5 minutes.',
  })
  downloadPath!: string;
}

export class ArtifactDto extends AttachmentDto implements ArtifactView {
  @ShownId() taskId!: string;
  @ShownId({ description: 'The run that stored the file' }) runId!: string;
}

export class AttachmentListDto {
  @ApiProperty({ type: [AttachmentDto] }) items!: AttachmentDto[];
}

export class ArtifactPageDto {
  @ApiProperty({ type: [ArtifactDto] }) items!: ArtifactDto[];
  @ShownTextOrNull() nextCursor!: string | null;
}

export class ArtifactsQuery extends PageQuery {
  @Id('runs', { optional: true, description: 'Only artifacts of this run' }) runId?: string;

  @Text({ max: 500, optional: true, description: 'Only artifacts of this name' }) name?: string;
}

export class DownloadQuery {
  @Text({ max: 4_096, description: 'The token of the signed link' }) token!: string;
}
