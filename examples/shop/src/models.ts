import { Coupon, OrderCoupon } from "./models/coupon.js";
import { Customer } from "./models/customer.js";
import { Order, OrderLine } from "./models/order.js";
import { Product } from "./models/product.js";
import { StockChange } from "./models/stock-change.js";

export const models = {
  customers: Customer,
  products: Product,
  orders: Order,
  orderLines: OrderLine,
  coupons: Coupon,
  orderCoupons: OrderCoupon,
  stockChanges: StockChange,
};
