import { ApiProperty } from '@nestjs/swagger';

export class UserViewDoc {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty() email!: string;
  @ApiProperty() name!: string;
  @ApiProperty() isOperator!: boolean;
  @ApiProperty({ type: Date, nullable: true }) disabledAt!: Date | null;
  @ApiProperty() version!: number;
  @ApiProperty() createdAt!: Date;
  @ApiProperty() updatedAt!: Date;
}

export class NewUserDoc extends UserViewDoc {
  @ApiProperty({ required: false, description: 'Shown once, when the request gave no password.' })
  generatedPassword?: string;
}

export class UserPageDoc {
  @ApiProperty({ type: [UserViewDoc] }) items!: UserViewDoc[];
  @ApiProperty({ type: String, nullable: true }) nextCursor!: string | null;
}

export class NewPasswordDoc {
  @ApiProperty({ format: 'uuid' }) userId!: string;
  @ApiProperty({ description: 'Shown once.' }) generatedPassword!: string;
}
