import { IconCompassOff } from "../ui/icons.gen";
import { Link } from "wouter";
import { Empty, Page } from "../ui/page";

export const NotFound = () => (
  <Page title="Not found">
    <Empty icon={<IconCompassOff size={22} stroke={1.5} />} title="There is no such page">
      <Link href="/">Go to what happens now</Link>, or press Ctrl K and type what you look for.
    </Empty>
  </Page>
);
