import {
  ArrayMaxSize,
  IsArray,
  IsDefined,
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  MaxLength,
  validateSync,
} from 'class-validator';
import { compileCheck, rulesOf } from './dto-check.js';
import { IsLine, Opaque } from './request.decorators.js';

class NamedDto {
  @IsLine(1, 8)
  name!: string;

  @IsOptional()
  @IsInt()
  size?: unknown;
}

class ListDto extends NamedDto {
  @IsArray()
  @ArrayMaxSize(2)
  @IsString({ each: true })
  @MaxLength(3, { each: true })
  items!: unknown;

  @IsDefined()
  @IsIn(['a', 'b', null])
  kind: unknown = 'a';

  @Opaque()
  anything?: unknown;
}

describe('the compiled check of a DTO class', () => {
  const isSound = compileCheck(rulesOf(ListDto));
  const sound = { name: 'n', items: ['one', 'two'] };

  it.each([
    sound,
    { ...sound, size: 1, anything: {} },
    { ...sound, size: null },
    { ...sound, size: '1' },
    { ...sound, kind: 'b' },
    { ...sound, kind: 'c' },
    { ...sound, kind: null },
    { ...sound, name: '' },
    { ...sound, name: 'x'.repeat(9) },
    { ...sound, name: undefined },
    { ...sound, items: [] },
    { ...sound, items: ['one', 2] },
    { ...sound, items: ['one', 'three'] },
    { ...sound, items: ['a', 'b', 'c'] },
    { ...sound, items: 'one' },
    { ...sound, items: {} },
    {},
  ])('agrees with class-validator about %j', (properties) => {
    const instance = Object.assign(new ListDto(), properties);
    const faults = validateSync(instance, { forbidUnknownValues: false });
    expect(isSound(instance as never)).toBe(faults.length === 0);
  });
});
