import { Link, useLocation } from 'react-router-dom';

/** A link to a report beside the list, whose filter stays. */
export function ReportLink({ reference }: { reference: string }) {
  const { search, state } = useLocation();
  return (
    <Link
      className="text-primary inline-flex min-h-[24px] items-center font-mono underline"
      to={`/reports/${reference}${search}`}
      state={state}
    >
      {reference}
    </Link>
  );
}
