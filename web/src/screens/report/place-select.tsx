import { Select, SelectContent, SelectItem, SelectTrigger, SelectValue } from '@/components/ui/select';
import { placeLabel, regions } from '@/content/regions';

export interface PlaceSelectProps {
  id: string;
  'aria-describedby': string | undefined;
  'aria-invalid': true | undefined;
  'aria-required': true | undefined;
  /** The region whose districts are the options. Without it, the regions are. */
  region?: string;
  value: string;
  placeholder: string;
  onChange: (name: string) => void;
  defaultOpen?: boolean;
  /** Whether it replaces a focused element. */
  autoFocus?: boolean;
}

export function PlaceSelect({
  region,
  value,
  placeholder,
  onChange,
  defaultOpen,
  ...control
}: PlaceSelectProps) {
  const places = region ? (regions.find(({ name }) => name === region)?.districts ?? []) : regions;
  return (
    <Select value={value} onValueChange={onChange} defaultOpen={defaultOpen}>
      <SelectTrigger {...control} className="data-placeholder:text-muted-foreground">
        <SelectValue placeholder={placeholder} />
      </SelectTrigger>
      <SelectContent>
        {places.map((place) => (
          <SelectItem key={place.name} value={place.name}>
            {placeLabel(place)}
          </SelectItem>
        ))}
      </SelectContent>
    </Select>
  );
}
